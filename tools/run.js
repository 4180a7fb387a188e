// Runs a program that checks or generates files of Stead:
//
//   node tools/run.js biome check .
//
// These programs have a folder of their own, because nobody needs them to run Stead. The first call installs them, as
// does the first one after a change of their versions. Runs on Node 20, which `npm run lint` may have.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from '../browser/install.js'

/**
 * Installs the programs unless they are there in the versions of the lock file.
 * @returns their folder
 * @throws Error if npm fails
 */
export function installTools() {
  installPackages(import.meta.dirname, 'Installing the programs in tools/ (once)')
  return import.meta.dirname
}

if (process.argv[1] === import.meta.filename) {
  const [name = '', ...words] = process.argv.slice(2)
  const program = join(installTools(), 'node_modules/.bin', name)
  if (name === '' || !existsSync(program)) {
    console.error('Usage: node tools/run.js <program in tools/package.json> [arguments]')
    process.exit(2)
  }
  process.exitCode = spawnSync(program, words, { stdio: 'inherit' }).status ?? 1
}
