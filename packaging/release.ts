/**
 * Makes a release of a clean tree: version, changelog, commit and tag, and the files to publish. Publishes nothing.
 *
 *   npm run release -- 0.2.0 [--out packages] [--files-only] [--compression gzip]
 *
 * `--files-only` builds the files of the version that the tree has, to compare them. Compression is that of the Debian
 * packages.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installPackages } from '../browser/install.js'
import { allLicenses, billOfMaterials, isNewer, releaseChangelog, shippedPackages } from './shipped.ts'

const root = join(import.meta.dirname, '..')
process.chdir(root)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: 'packages' },
    'files-only': { type: 'boolean', default: false },
    compression: { type: 'string', default: 'xz' },
  },
})
const current = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
const version = positionals[0] ?? ''
if (!values['files-only'] && !isNewer(version, current))
  end(`Usage: npm run release -- <version>, such as 1.2.3. It must be higher than ${current}.`)
if (output('git', 'status', '--porcelain') !== '') end('The working tree has changes. Commit them first.')
if (!values['files-only']) commitRelease()
buildFiles(values['files-only'] ? current : version, resolve(values.out))

function commitRelease(): void {
  const day = new Date().toISOString().slice(0, 10)
  const changelog = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, day)
  writeFileSync('CHANGELOG.md', changelog)
  run('npm', 'version', '--no-git-tag-version', '--ignore-scripts', version)
  writeFileSync('openapi/openapi.json', `${output(process.execPath, 'bin/stead.js', 'openapi')}\n`)
  run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`)
  run('git', 'tag', `v${version}`)
}

/** Packages of npm and Debian, the bill of materials, all licenses, and checksums. The same commit gives the same bytes. */
function buildFiles(name: string, out: string): void {
  mkdirSync(out, { recursive: true })
  // Files of an earlier run. Others in the folder stay, and are not part of the release.
  const isOurs = (file: string) => /^(stead[-_]|SHA256SUMS$)/.test(file)
  for (const file of readdirSync(out).filter(isOurs)) rmSync(join(out, file))
  const time = new Date(Number(output('git', 'log', '-1', '--format=%ct')) * 1000)
  // For their licenses.
  installPackages(join(root, 'browser'), 'Installing the packages of browser/')
  const packages = shippedPackages(root)
  writeFileSync(join(out, `stead-${name}.cdx.json`), billOfMaterials(name, packages, time))
  writeFileSync(join(out, `stead-${name}-licenses.txt`), allLicenses(root, packages))
  run('npm', 'pack', '--silent', '--pack-destination', out)
  run(process.execPath, 'packaging/deb.js', '--out', out, '--compression', values.compression)
  const sums = readdirSync(out)
    .filter(isOurs)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, file)))
          .digest('hex')}  ${file}\n`,
    )
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
  console.log(`${out}:\n${sums.join('')}`)
}

function end(text: string): never {
  console.error(text)
  process.exit(2)
}

function run(program: string, ...words: string[]): void {
  execFileSync(program, words, { stdio: ['ignore', 'inherit', 'inherit'] })
}

function output(program: string, ...words: string[]): string {
  return execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1e8 }).trim()
}
