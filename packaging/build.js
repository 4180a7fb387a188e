/**
 * Builds the content of the package.
 *
 *   node packaging/build.js                    into dist/, with all types checked and those of the SDK
 *   node packaging/build.js --program <folder> a program for tests: with the launcher, without types
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from './bundle.js'

const root = join(import.meta.dirname, '..')
// The npm package has the modes of these files, and must not depend on who builds it.
process.umask(0o022)
const [flag, folder] = process.argv.slice(2)
const isForTests = flag === '--program' && folder !== undefined
const dist = isForTests ? resolve(folder, 'dist') : join(root, 'dist')
const tsc = join(root, 'node_modules/typescript/bin/tsc')
/** Files that the program reads besides its own code, at their place in the repository. */
const copied = [
  'third-party',
  'openapi',
  'package.json',
  'browser/package.json',
  'browser/package-lock.json',
  'browser/install.js',
  'src/panel/dist',
  'src/hosting/php/tasks',
  'src/hosting/site-imports/old-site-plugin',
]

rmSync(isForTests ? folder : dist, { recursive: true, force: true })
run(tsc, '-p', 'tsconfig.build.json', '--outDir', dist, ...(isForTests ? ['--noCheck'] : []))
if (!isForTests) {
  run(tsc, '-p', 'tsconfig.sdk.json')
  run('src/panel/build.js')
}
for (const path of copied) copy(path, join(dist, path))
if (isForTests) {
  for (const path of ['bin', 'package.json']) copy(path, join(folder, path))
  symlinkSync(join(root, 'browser/node_modules'), join(dist, 'browser/node_modules'))
}
await bundle(dist)

/** @param {string[]} words a JavaScript file and its arguments */
function run(...words) {
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit' })
}

/**
 * @param {string} from below the root
 * @param {string} to
 */
function copy(from, to) {
  mkdirSync(join(to, '..'), { recursive: true })
  cpSync(join(root, from), to, { recursive: true })
}
