// Validators made of the schemas that the official SDK publishes: by version of the
// protocol, by method, for parameters and for results.
//
// They are stricter than the schema where the specification is: an object of the
// protocol has no members of one's own beside _meta, and a value of an open set is
// one of those that are defined or begins with an underscore. What is sent to an
// agent on purpose may break that, so the strictness is for what agents say.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const sdk = new URL("../../../", import.meta.resolve("@agentclientprotocol/sdk")); // it resolves to dist/v1/stable/acp.js
const made = new Map();

// protocol returns the validators of a version; unstable adds what is no part of it yet.
export function protocol(version, { unstable = false } = {}) {
  const key = `${version} ${unstable}`;
  if (!made.has(key)) made.set(key, make(version, unstable));
  return made.get(key);
}

function make(version, unstable) {
  const schema = JSON.parse(readFileSync(new URL(`schema/v${version}/schema${unstable ? ".unstable" : ""}.json`, sdk)));
  const ajv = new Ajv2020({ strict: false, allErrors: false, allowUnionTypes: true });
  addFormats(ajv);
  for (const [name, bits] of [["uint16", 16], ["uint32", 32], ["uint64", 64], ["int64", 64], ["int32", 32]]) {
    ajv.addFormat(name, { type: "number", validate: (n) => Number.isInteger(n) && (name[0] !== "u" || n >= 0) && Math.abs(n) <= 2 ** bits });
  }
  ajv.addSchema({ ...schema, $id: "lax" });
  ajv.addSchema({ ...closed(schema), $id: "strict" });
  // A validator is compiled when it is first used: most never are.
  const lazy = (compile) => {
    let validate;
    const check = (value) => {
      validate ??= compile();
      const good = validate(value);
      check.errors = validate.errors;
      return good;
    };
    return check;
  };
  const lax = (name) => lazy(() => ajv.getSchema(`lax#/$defs/${name}`));
  const strict = (name) => lazy(() => ajv.compile({ $ref: `strict#/$defs/${name}`, unevaluatedProperties: false }));

  // methods: what is called, by the side that serves it.
  const methods = new Map();
  for (const [name, def] of Object.entries(schema.$defs)) {
    const method = def["x-method"];
    if (!method) continue;
    const sides = def["x-side"] === "protocol" ? ["agent", "client"] : [def["x-side"]];
    for (const side of sides) {
      const m = methods.get(`${side} ${method}`) ?? {};
      if (name.endsWith("Response")) m.result = { lax: lax(name), strict: strict(name) };
      else m[name.endsWith("Notification") ? "notification" : "request"] = { lax: lax(name), strict: strict(name) };
      methods.set(`${side} ${method}`, m);
    }
  }
  const updates = new Set();
  for (const branch of schema.$defs.SessionUpdate.anyOf ?? schema.$defs.SessionUpdate.oneOf) {
    const kind = branch.properties?.sessionUpdate?.const;
    if (kind) updates.add(kind);
  }
  return {
    version, methods, updates, error: lax("Error"),
    update: strict("SessionUpdate"),
    block: strict("ContentBlock"),
    // of finds what is said of a method that side serves.
    of: (side, method) => methods.get(`${side} ${method}`),
    definitions: schema.$defs,
  };
}

// closed is a schema in which the branch for "anything else" of an open set takes
// only names of one's own, which begin with an underscore: all others are reserved.
function closed(node) {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== "object") return node;
  const out = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, closed(v)]));
  if (node.title !== "other" && node.title !== "unknown") return out;
  if (node.type === "string" && node.const === undefined) return { ...out, pattern: "^_" };
  const [tag] = Object.keys(node.properties ?? {}).filter((k) => node.required?.includes(k) && node.properties[k].type === "string");
  if (tag) out.properties[tag] = { type: "string", pattern: "^_" };
  return out;
}
