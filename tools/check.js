// Lints and checks types, both at the same time: each alone uses one processor.
//
//   node tools/check.js
import { spawn } from 'node:child_process'

/**
 * Runs an npm script, and prints what it printed when it has ended.
 * @param {string} name
 * @returns {Promise<number>} its exit status
 */
function run(name) {
  // One string for a shell, because npm is a shell script on some systems.
  const child = spawn(`npm run --silent ${name}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  /** @type {Buffer[]} */
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => printed.push(piece))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      console.log(`== ${name}`)
      process.stdout.write(Buffer.concat(printed))
      resolve(code ?? 1)
    }),
  )
}

const codes = await Promise.all(['lint', 'types'].map(run))
process.exitCode = Math.max(...codes)
