// Amounts, days, search and CSV, without a browser: node --test test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { cell } from "./csv.js";
import { cents, grouped, number, percent, pesos, plain } from "./money.js";
import { searched } from "./search.js";
import { civil, signed, toDocument, toIso } from "./time.js";

test("amounts are cents, without a float", () => {
  const known = { "": 0n, "0.00": 0n, "0.01": 1n, 1: 100n, "1.5": 150n, "-3.10": -310n, "1.23456": 123n, "9999999999999999.99": 999999999999999999n, abc: 0n };
  for (const [text, value] of Object.entries(known)) assert.equal(cents(text), value, text);
  assert.equal(cents(null), 0n);
  assert.equal(grouped(0n), "0.00");
  assert.equal(grouped(-123456n), "−1,234.56");
  assert.equal(pesos("9999999999999999.99"), "RD$ 9,999,999,999,999,999.99");
  assert.equal(plain("10000.0000", 2), "10,000.00");
  assert.equal(plain("1.0050", 2), "1.005");
  assert.equal(plain("2.00"), "2");
});

test("what is typed becomes what the API reads", () => {
  const known = { "1,500.50": "1500.50", "RD$ 1,500.50": "1500.50", "1 500.5": "1500.5", "1500,5": "1500.5", "1,500": "1500", "1,50": "1.50", "0.0001": "0.0001", "12.": "12", "uno": "uno", "-5": "-5" };
  for (const [typed, read] of Object.entries(known)) assert.equal(number(typed), read, typed);
});

test("shares are rounded, and nothing of nothing is no share", () => {
  assert.equal(percent(0n, 0n), "—");
  assert.equal(percent(1n, 3n), "33.3 %");
  assert.equal(percent(2n, 3n), "66.7 %");
  assert.equal(percent(3n, 3n), "100.0 %");
});

test("days are Santo Domingo's", () => {
  assert.equal(toIso("28-11-2026"), "2026-11-28");
  assert.equal(toIso("2026-11-28T02:35:00Z"), "2026-11-28");
  assert.equal(toIso("28/11/2026"), "");
  assert.equal(toDocument("2026-11-28"), "28-11-2026");
  assert.equal(signed("27-11-2026 22:35:00"), "2026-11-27T22:35:00-04:00");
  assert.match(civil("28-11-2026"), /28/);
  assert.equal(civil(null), "—");
});

test("a search is told apart by its shape", () => {
  assert.deepEqual(searched(" e310005000000 "), { encf: "E310005000000" });
  assert.deepEqual(searched("40d3f201-990a-446d-97b8-92d6ddda4f9e"), { track_id: "40d3f201-990a-446d-97b8-92d6ddda4f9e" });
  assert.deepEqual(searched("E31"), { external_id: "E31" });
  assert.deepEqual(searched("  "), {});
});

test("no cell of CSV is a formula", () => {
  for (const text of ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\tx"]) assert.equal(cell(text)[1], "'", text);
  assert.equal(cell('a "b", c'), '"a ""b"", c"');
  assert.equal(cell(null), '""');
});
