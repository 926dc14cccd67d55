// All HTTP requests. Addresses are relative to this script, so a stage or a domain in front of the service needs no setting.
import { signal } from "@preact/signals";
import { expire, key } from "./session.js";
import { language } from "./words.js";

/** @typedef {import("./types").Gets} Gets */
/** @typedef {{ loc: string[], msg: string, type: string, ctx?: any, input?: any }} Finding */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Query */

const root = new URL("../../api/v1/", import.meta.url);

/** The pending retry of a GET: when it is sent, and the status that caused it. @type {import("@preact/signals").Signal<{ until: number, status: number } | null>} */
export const waiting = signal(null);

/** A failed request. `status` is 0 when no response arrived. */
export class Problem extends Error {
  /** @param {number} status @param {any} detail @param {string | null} id @param {number | null} after */
  constructor(status, detail, id, after) {
    super(typeof detail === "string" ? detail : (detail?.message ?? ""));
    this.status = status;
    this.code = typeof detail?.code === "string" ? detail.code : "";
    /** @type {Finding[]} */
    this.findings = Array.isArray(detail) ? detail : [];
    this.id = id ?? detail?.request_id ?? null;
    this.after = after;
  }

  /** Whether the service may have processed the request nevertheless. */
  get isUnclear() {
    return this.status === 0 || (this.status >= 500 && this.status !== 503);
  }

  get isSignedOut() {
    return this.status === 401 || this.findings.some(({ loc }) => loc[0] === "header" && loc[1]?.toLowerCase() === "x-api-key");
  }
}

/** @param {string} template @param {Query} [params] @param {Query} [query] */
function address(template, params = {}, query = {}) {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])));
  const url = new URL(path, root);
  for (const [name, value] of Object.entries(query)) {
    // A filter that is empty is left out; an empty `acked` has a meaning, both.
    if (value === undefined || value === null || (value === "" && name !== "acked")) continue;
    url.searchParams.set(name, String(value));
  }
  return url;
}

/**
 * @param {string} method @param {URL} url
 * @param {{ body?: BodyInit, type?: string, signal?: AbortSignal, key?: string }} options
 */
async function once(method, url, { body, type, signal, key: other }) {
  /** @type {Record<string, string>} */
  const headers = { "X-API-Key": other ?? key.value ?? "", "Accept-Language": language.value };
  if (type) headers["Content-Type"] = type;
  let answer;
  try {
    answer = await fetch(url, { method, headers, body, signal, credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, "", null, null);
  }
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => "");
  /** @type {any} */
  let detail = text;
  try {
    detail = JSON.parse(text).detail ?? JSON.parse(text).message ?? text;
  } catch {
    // The gateway's own errors can be plain text.
  }
  const after = Number(answer.headers.get("retry-after"));
  const problem = new Problem(answer.status, detail, answer.headers.get("x-request-id"), after > 0 ? after : null);
  if (problem.isSignedOut && other === undefined) expire();
  throw problem;
}

/** @param {number} ms @param {AbortSignal} [signal] */
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });

const PATIENCE = 4;

/** A GET. After 429 and 503 it is retried as `Retry-After` says; `waiting` shows the pending retry. @param {URL} url @param {AbortSignal} [signal] */
async function read(url, signal) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once("GET", url, { signal });
    } catch (error) {
      const again = error instanceof Problem && (error.status === 429 || error.status === 503) && error.code !== "register_not_loaded";
      if (!again || attempt === PATIENCE || (error.after ?? 1) > 120) throw error;
      const told = { until: Date.now() + (error.after ?? attempt * 2) * 1000, status: error.status };
      waiting.value = told;
      try {
        await pause(told.until - Date.now(), signal);
      } finally {
        if (waiting.peek() === told) waiting.value = null;
      }
    }
  }
}

/**
 * @template {keyof Gets} P
 * @param {P} path @param {{ params?: Query, query?: Query, signal?: AbortSignal }} [options]
 * @returns {Promise<Gets[P]>}
 */
export const get = async (path, { params, query, signal } = {}) => (await read(address(path, params, query), signal)).json();

/** A file, with the name from `Content-Disposition`; with a form, the file that it becomes. @param {string} path @param {{ params?: Query, query?: Query, body?: FormData, signal?: AbortSignal }} [options] */
export async function file(path, { params, query, body, signal } = {}) {
  const url = address(path, params, query);
  const answer = await (body ? once("POST", url, { body, signal }) : read(url, signal));
  const [, name = ""] = /filename="?([^";]+)"?/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
  return { name, answer };
}

/**
 * A write. It is never retried automatically.
 * @param {"POST" | "PATCH" | "PUT" | "DELETE"} method @param {string} path
 * @param {{ params?: Query, query?: Query, body?: any, type?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<any>}
 */
export async function send(method, path, { params, query, body, type, signal } = {}) {
  const form = body instanceof FormData;
  const raw = form || body instanceof Blob;
  const answer = await once(method, address(path, params, query), {
    body: body === undefined ? undefined : raw ? body : JSON.stringify(body),
    type: body === undefined || form ? undefined : (type ?? "application/json"),
    signal,
  });
  const text = await answer.text();
  const data = text ? JSON.parse(text) : null;
  return { data, status: answer.status, headers: answer.headers };
}

/** Validates a key before it is stored: the company's profile, or an error. @param {string} candidate @returns {Promise<Gets["client/company"]>} */
export const tried = async (candidate) => (await once("GET", address("client/company"), { key: candidate })).json();

/** Downloads a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
