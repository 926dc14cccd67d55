// The DGII's register of taxpayers, looked up once a number is complete.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./api.js";
import { html } from "./html.js";
import { t } from "./words.js";

/**
 * What the register says of a number. A name that is empty, or that an earlier look-up filled in, becomes that of the register.
 * @param {string} typed @param {string} name @param {(name: string) => void} setName
 */
export function useRegister(typed, name, setName) {
  const rnc = typed.replace(/[\s-]/g, "");
  const wanted = /^(\d{9}|\d{11})$/.test(rnc) ? rnc : "";
  const [answer, setAnswer] = useState(/** @type {{ of: string, text: string, tone: string } | null} */ (null));
  const filled = useRef("");
  useEffect(() => {
    if (!wanted) return;
    const control = new AbortController();
    get("taxauth/rnc/{rnc}", { params: { rnc: wanted }, signal: control.signal }).then(
      (found) => {
        const isActive = !found.estado || /^activo$/i.test(found.estado);
        setAnswer({ of: wanted, text: [found.razon_social, found.estado, found.regimen_pagos].filter(Boolean).join(" · "), tone: isActive ? "" : "warn" });
        if (!name || name === filled.current) {
          filled.current = found.razon_social;
          setName(found.razon_social);
        }
      },
      (problem) => {
        if (problem instanceof Problem && problem.status === 404) setAnswer({ of: wanted, text: t("No está en el padrón. Revise los dígitos."), tone: "warn" });
        // Any other error: the form works without the register, since the service validates the number.
      },
    );
    return () => control.abort();
  }, [wanted]);
  return answer && answer.of === wanted ? html`<span class=${answer.tone}>${answer.text}</span>` : undefined;
}
