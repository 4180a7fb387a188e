import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** `e_machine` of the ELF header (https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html), by Debian's name. */
const machines = { amd64: 62, arm64: 183 }

/**
 * Finds programs and libraries that a machine cannot run.
 * @param {string} folder
 * @param {keyof typeof machines} arch of that machine
 * @returns {{ count: number, foreign: string[] }} how many files have code for a machine, and which have it for another
 */
export function foreignPrograms(folder, arch) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const found = files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    const machine = machineOf(path)
    return machine === undefined ? [] : [{ path, machine }]
  })
  const foreign = found.filter(({ machine }) => machine !== machines[arch]).map(({ path }) => path)
  return { count: found.length, foreign }
}

/**
 * Returns `e_machine` of an ELF file with little-endian numbers, 0 of any other ELF file, or undefined.
 * @param {string} path
 */
function machineOf(path) {
  const header = Buffer.alloc(20)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, header, 0, header.length, 0) < header.length) return undefined
  } finally {
    closeSync(file)
  }
  if (header.readUInt32BE(0) !== 0x7f454c46) return undefined
  return header[5] === 1 ? header.readUInt16LE(18) : 0
}
