// Reads one trace with Perfetto's trace processor (the WASM engine of its web page) under node:
//   node perfetto.js FOLDER FILE
// FOLDER holds engine_bundle.js and trace_processor*.wasm. Prints the line that child.py prints;
// starting the engine is left out.
"use strict";
const fs = require("fs");
const path = require("path");
const { performance } = require("perf_hooks");

const [folder, file] = process.argv.slice(2);
const START_MS = 2000;
const BLOCK = 16 << 20;
// TraceProcessorRpc: the field of the request's kind, the kinds, the field of their data.
const APPEND = { kind: 1, field: 101 };
const FINALIZE = { kind: 2 };

const inFolder = (url) => fs.readFileSync(path.join(folder, path.basename(String(url))));

// What the bundle expects of the web worker it was made for.
const node = process;
globalThis.self = globalThis;
globalThis.location = { href: `file://${folder}/engine_bundle.js` };
globalThis.WorkerGlobalScope = function () {};
globalThis.importScripts = () => {};
globalThis.fetch = async (url) =>
  new Response(inFolder(url), { headers: { "content-type": "application/wasm" } });
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.url = url;
  }
  send() {
    const bytes = inFolder(this.url);
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    if (this.onload) this.onload();
  }
};
const port = { onmessage: null, postMessage() {} };

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function field(number, bytes) {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

let sequence = 0;
function send(request, data) {
  const parts = [Buffer.from([8]), varint(++sequence), Buffer.from([16]), varint(request.kind)];
  if (data) parts.push(field(request.field, data));
  port.onmessage({ data: new Uint8Array(field(1, Buffer.concat(parts))) });
}

async function main() {
  // With a global process the engine would take node for its host and look for files.
  globalThis.process = undefined;
  (0, eval)("var process = undefined;" + inFolder("engine_bundle.js").toString());
  globalThis.process = node;
  await new Promise((resolve) => setTimeout(resolve, START_MS));
  globalThis.onmessage({ data: port });
  const used = node.cpuUsage();
  const begun = performance.now();
  const input = fs.openSync(file, "r");
  const block = Buffer.alloc(BLOCK);
  for (let count; (count = fs.readSync(input, block, 0, BLOCK, null)) > 0; )
    send(APPEND, block.subarray(0, count));
  send(FINALIZE);
  const wall = (performance.now() - begun) / 1e3;
  const cpu = node.cpuUsage(used);
  const peak = node.resourceUsage().maxRSS * 1024;
  const line = { cpu_s: (cpu.user + cpu.system) / 1e6, wall_s: wall, peak_bytes: peak };
  console.log(JSON.stringify(line));
  node.exit(0);
}

main().catch((error) => {
  console.error(error);
  node.exit(1);
});
