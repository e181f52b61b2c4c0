// Makes the attachments of the scenario and measures what arrives.
import { deflateSync, crc32, constants } from "node:zlib";

// zlib.crc32 came with node 20.15; the table serves the versions before.
const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});
function checksum(data) {
  if (crc32) return crc32(data);
  let c = 0xffffffff;
  for (const b of data) c = table[(c ^ b) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

function chunk(kind, data) {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(kind, 4, "latin1");
  data.copy(out, 8);
  out.writeUInt32BE(checksum(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}

// png is a picture of noise with four values to a sample, so that it takes two
// bits a sample however it is compressed: 3840x2400 are about 7 MB.
export function png(width, height) {
  const raw = Buffer.alloc((width * 3 + 1) * height);
  let x = 0x2545f491; // xorshift: the same bytes each time
  for (let i = 0; i < raw.length; i++) {
    x ^= x << 13; x ^= x >>> 17; x ^= x << 5;
    raw[i] = 0x40 + ((x >>> 8) & 3) * 0x30;
  }
  for (let y = 0; y < height; y++) raw[y * (width * 3 + 1)] = 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(raw, { strategy: constants.Z_HUFFMAN_ONLY });
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

// wav is a second of silence.
export function wav() {
  const out = Buffer.alloc(44 + 8000);
  out.write("RIFF", 0, "latin1");
  out.writeUInt32LE(out.length - 8, 4);
  out.write("WAVEfmt ", 8, "latin1");
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(8000, 24);
  out.writeUInt32LE(8000, 28);
  out.writeUInt16LE(1, 32);
  out.writeUInt16LE(8, 34);
  out.write("data", 36, "latin1");
  out.writeUInt32LE(8000, 40);
  out.fill(0x80, 44);
  return out;
}

export const pdf = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n" +
  "4 0 obj<</Length 41>>stream\nBT /F 12 Tf 5 50 Td (hello paper) Tj ET  \nendstream endobj\n" +
  "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n", "latin1");

export const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><circle r="5"/></svg>\n');

// measure reads the kind and the size of a picture from its bytes.
export function measure(data) {
  if (data.subarray(1, 4).toString("latin1") === "PNG") {
    return { mime: "image/png", width: data.readUInt32BE(16), height: data.readUInt32BE(20), orientation: 1 };
  }
  if (data.readUInt16BE(0) !== 0xffd8) throw new Error("neither PNG nor JPEG");
  let orientation = 1;
  for (let i = 2; i < data.length;) {
    const marker = data.readUInt16BE(i), size = data.readUInt16BE(i + 2);
    if (marker === 0xffe1 && data.subarray(i + 4, i + 8).toString("latin1") === "Exif") orientation = orientationOf(data.subarray(i + 10, i + 2 + size));
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      return { mime: "image/jpeg", width: data.readUInt16BE(i + 7), height: data.readUInt16BE(i + 5), orientation };
    }
    i += 2 + size;
  }
  throw new Error("a JPEG without a frame");
}

function orientationOf(tiff) {
  const little = tiff.subarray(0, 2).toString("latin1") === "II";
  const u16 = (at) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const u32 = (at) => (little ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  const ifd = u32(4);
  for (let n = 0; n < u16(ifd); n++) {
    const at = ifd + 2 + n * 12;
    if (u16(at) === 0x0112) return u16(at + 8);
  }
  return 1;
}
