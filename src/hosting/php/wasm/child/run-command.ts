import { readSync } from 'node:fs'
import { type CommandHead, encodeFrame, Frame, type FrameKind, mostFrameBytes } from '../frames.ts'
import { type Php, settingsFile, writeSettings } from './loader.ts'
import { writeAll } from './php-output.ts'

const standardInput = 0
const endOfInput = 0
/** A device number that only this file uses: php-wasm has 62 to 64. */
const inputDevice = 77

/** Replaces PHP's standard input with the process' own, and changes PHP's directory to the web root. */
export function prepareCommand(php: Php, ini: Readonly<Record<string, string>>): void {
  const { FS } = php
  writeSettings(php, ini)
  const device = FS.makedev(inputDevice, 0)
  FS.registerDevice(device, { read: (_stream, buffer, offset, length) => readInput(buffer, offset, length) })
  FS.mkdev('/dev/command-input', device)
  FS.close(FS.streams[0] as { path: string })
  FS.open('/dev/command-input', 0)
  FS.chdir('/wordpress')
}

/** Waits for input. PHP does nothing else meanwhile, as in any command that reads. */
function readInput(buffer: Uint8Array, offset: number, length: number): number {
  try {
    return readSync(standardInput, buffer, offset, length, null)
  } catch {
    // The writer is gone.
    return endOfInput
  }
}

/**
 * Runs PHP's own command line, once. Its output leaves at once, and PHP waits while nobody reads it.
 * @returns the exit code
 * @throws when the WebAssembly instance itself failed
 */
export async function runCommand(php: Php, { args }: CommandHead, answers: number): Promise<number> {
  const send = (kind: FrameKind) => (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length; at += mostFrameBytes)
      writeAll(answers, encodeFrame(kind, Buffer.from(chunk.subarray(at, at + mostFrameBytes))))
  }
  php.onStdout = send(Frame.data)
  php.onStderr = send(Frame.errors)
  for (const arg of ['php', '-c', settingsFile, ...args]) php.ccall('wasm_add_cli_arg', null, ['string'], [arg])
  try {
    return Number(await php.ccall('run_cli', 'number', [], [], { async: true }))
  } catch (error) {
    if ((error as Error)?.name === 'ExitStatus') return (error as unknown as { status: number }).status
    throw error
  }
}
