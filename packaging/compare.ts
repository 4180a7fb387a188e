/**
 * Builds the files of a release twice, in two clones of the last commit that differ in place, umask, and time zone, and
 * compares their checksums. Takes minutes, and a few gigabytes in the temporary folder.
 *
 *   node packaging/compare.ts [--compression xz]
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { compression: { type: 'string', default: 'gzip' } } })
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
const work = mkdtempSync(join(tmpdir(), 'stead-compare-'))
try {
  const first = build('a', '022', 'UTC')
  const second = build('another-place', '077', 'Asia/Kolkata')
  console.log(first)
  if (first !== second) {
    console.log(`Differs:\n${second}`)
    process.exitCode = 1
  } else console.log('Both builds gave the same bytes.')
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** @returns the checksums */
function build(name: string, umask: string, zone: string): string {
  const clone = join(work, name)
  execFileSync('git', ['clone', '--quiet', root, clone])
  // The last commit may be another one by now.
  execFileSync('git', ['checkout', '--quiet', '--detach', commit], { cwd: clone })
  cpSync(join(root, 'node_modules'), join(clone, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('node_modules/.cache'),
  })
  const command = `umask ${umask} && exec npm run --silent release -- --files-only --compression ${values.compression}`
  execFileSync('sh', ['-c', command], { cwd: clone, env: { ...process.env, TZ: zone }, stdio: ['ignore', 2, 2] })
  const sums = readFileSync(join(clone, 'packages/SHA256SUMS'), 'utf8')
  rmSync(clone, { recursive: true })
  return sums
}
