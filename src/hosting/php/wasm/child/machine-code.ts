import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { crc32 } from 'node:zlib'

/*
 * V8 compiles a WebAssembly module anew in each process: quickly at first, and what runs often once more and better. Chromium keeps the
 * latter with the module; Node has no function for it, so V8's own two are called, which its tests use as well. V8 itself refuses what another V8,
 * other flags or another processor made (`undefined`); that it was made of this very module, and is whole, is looked at here.
 */
interface Natives {
  /** Ends the process where nothing was compiled twice. */
  serialize(module: WebAssembly.Module): ArrayBuffer
  deserialize(code: ArrayBuffer, bytes: Uint8Array): WebAssembly.Module | undefined
}

/** @throws SyntaxError where V8 has them no more */
function natives(): Natives {
  setFlagsFromString('--allow-natives-syntax')
  try {
    return {
      serialize: new Function('module', 'return %SerializeWasmModule(module)') as Natives['serialize'],
      deserialize: new Function(
        'code',
        'bytes',
        'return %DeserializeWasmModule(code, bytes)',
      ) as Natives['deserialize'],
    }
  } finally {
    setFlagsFromString('--no-allow-natives-syntax')
  }
}

/** Before the code: checksums of the module and of the code, 32 bits each. */
const headerBytes = 8

/** PHP's module, as it is in this process. */
export interface CompiledPhp {
  readonly module: WebAssembly.Module
  /** It has the code that was kept. */
  readonly isFromCode: boolean
  /** What V8 has made of it by now, in the form that {@link compilePhp} reads. */
  code(): Buffer
}

/** @param codeFile what another process has kept, if anything; where it is of no use everything is compiled here */
export async function compilePhp(path: string, codeFile?: string): Promise<CompiledPhp> {
  const bytes = readFileSync(path)
  const checksum = crc32(bytes)
  const kept = codeFile === undefined ? undefined : fromCode(bytes, checksum, codeFile)
  const module = kept ?? (await WebAssembly.compile(bytes))
  // V8 has bytes of its own: nothing below may name these, which would be kept with it
  return withCode(module, kept !== undefined, checksum)
}

function withCode(module: WebAssembly.Module, isFromCode: boolean, checksum: number): CompiledPhp {
  return {
    module,
    isFromCode,
    code() {
      const code = Buffer.from(natives().serialize(module))
      const header = Buffer.alloc(headerBytes)
      header.writeUInt32BE(checksum, 0)
      header.writeUInt32BE(crc32(code), 4)
      return Buffer.concat([header, code])
    },
  }
}

function fromCode(bytes: Buffer, checksum: number, file: string): WebAssembly.Module | undefined {
  try {
    const kept = readFileSync(file)
    const code = new Uint8Array(kept.length - headerBytes)
    code.set(kept.subarray(headerBytes))
    if (kept.readUInt32BE(0) !== checksum || kept.readUInt32BE(4) !== crc32(code)) return undefined
    return natives().deserialize(code.buffer, bytes)
  } catch {
    // it is only a matter of speed
    return undefined
  }
}
