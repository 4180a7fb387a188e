// Lints and checks types, both at the same time: each alone uses one processor. A command runs beside both, because the
// first lint installs its programs and leaves a processor unused meanwhile.
//
//   node tools/check.js [<command> <word> …]
import { spawn } from 'node:child_process'

/**
 * Runs an npm script.
 * @param {string} name
 * @returns {Promise<{ code: number, print: () => void }>} its exit status, and what prints its output
 */
function run(name) {
  // One string for a shell, because npm is a shell script on some systems.
  const child = spawn(`npm run --silent ${name}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  /** @type {Buffer[]} */
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => printed.push(piece))
  const print = () => {
    console.log(`== ${name}`)
    process.stdout.write(Buffer.concat(printed))
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? 1, print })))
}

/**
 * Runs a command whose output is seen at once.
 * @param {string[]} words
 * @returns {Promise<number>} its exit status
 */
function runOpenly([program = '', ...words]) {
  const child = spawn(program, words, { stdio: 'inherit' })
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)))
}

const command = process.argv.slice(2)
const checks = ['lint', 'types'].map(run)
// People who wait for the command see at once what is wrong.
for (const check of checks) check.then(({ code, print }) => command.length > 0 && code !== 0 && print())
const commandCode = command.length > 0 ? await runOpenly(command) : 0
const results = await Promise.all(checks)
for (const { print } of results) print()
process.exitCode = Math.max(commandCode, ...results.map(({ code }) => code))
