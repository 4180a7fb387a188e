import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of npm whose code a release contains. */
export interface ShippedPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  /** As in `package-lock.json`: `sha512-` and base64. */
  readonly integrity: string
  /** The folder, which is missing for packages of other architectures. */
  readonly folder: string
}

interface LockedPackage {
  readonly name?: string
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Packages that build the panel, and whose code is in it. */
const ofPanel = new Set([
  '@fontsource-variable/inter',
  '@preact/signals',
  '@preact/signals-core',
  'preact',
  'preact-iso',
])
const LINE = `\n${'-'.repeat(80)}\n\n`

/** Returns the packages that a release contains, in order of name and version. */
export function shippedPackages(root: string): ShippedPackage[] {
  const found = [
    ...locked(root, (path, reached) => reached.has(path) || ofPanel.has(path.slice('node_modules/'.length))),
    ...locked(join(root, 'browser'), (path, reached) => reached.has(path)),
  ]
  const unique = new Map(found.map((each) => [`${each.name}@${each.version}`, each]))
  return [...unique.keys()].sort().map((key) => unique.get(key) as ShippedPackage)
}

/** Returns chosen packages of a folder's lock file. `reached` has the paths of those that its dependencies need. */
function locked(root: string, isShipped: (path: string, reached: ReadonlySet<string>) => boolean): ShippedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: LockedPackages }
  const reached = reachedFrom(packages)
  return Object.entries(packages).flatMap(([path, { name, version, license, integrity = '' }]) => {
    if (path === '' || !isShipped(path, reached)) return []
    const ownName = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const folder = join(root, path)
    return [
      {
        name: name ?? ownName,
        version,
        license: license ?? ofRepository[ownName] ?? licenseIn(folder),
        integrity,
        folder,
      },
    ]
  })
}

/** Returns the paths of all packages that those of the root need, found as Node finds them. */
function reachedFrom(packages: LockedPackages): ReadonlySet<string> {
  const reached = new Set([''])
  // A set also goes through what is added meanwhile.
  for (const path of reached) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path] as LockedPackage
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = placesOf(path, name).find((place) => packages[place])
      if (found !== undefined) reached.add(found)
    }
  }
  return reached
}

/** Returns where Node looks for a package, the nearest folder first. */
function placesOf(path: string, name: string): string[] {
  const parents = path
    .split('/node_modules/')
    .map((_, depth, parts) => parts.slice(0, parts.length - depth).join('/node_modules/'))
  return [...parents.filter(Boolean).map((parent) => `${parent}/node_modules/${name}`), `node_modules/${name}`]
}

/** Licenses of the repositories of packages that name none themselves. */
const ofRepository: Readonly<Record<string, string>> = { '@php-wasm/util': 'GPL-2.0-or-later' }

/** Returns the license that a package names, also in the old form, a list. */
function licenseIn(folder: string): string {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return 'unknown'
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8')) as {
    license?: string
    licenses?: readonly { readonly type: string }[]
  }
  return license ?? licenses?.[0]?.type ?? 'unknown'
}

/** Returns a bill of materials in CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/). The same input gives the same text. */
export function billOfMaterials(version: string, packages: readonly ShippedPackage[], time: Date): string {
  const components = packages.map(({ name, version: own, license, integrity }) => {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${own}`
    const [algorithm, hash = ''] = integrity.split('-', 2)
    const hashes = [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }]
    // An expression, because some packages have a choice of several.
    const licenses = license === 'unknown' ? [] : [{ expression: license }]
    return {
      ...{ type: 'library', 'bom-ref': purl, name, version: own, purl, licenses },
      ...(algorithm === 'sha512' && { hashes }),
    }
  })
  const component = { type: 'application', 'bom-ref': 'stead', name: 'stead', version }
  const metadata = { timestamp: time.toISOString(), component }
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }, null, 2)}\n`
}

/** Returns the licenses of Stead and of everything that a release contains, as one text. */
export function allLicenses(root: string, packages: readonly ShippedPackage[]): string {
  const file = (path: string) => readFileSync(join(root, path), 'utf8').trim()
  const others = packages.map(({ name, version, license, folder }) => {
    const found = existsSync(folder)
      ? readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
      : undefined
    const text = found === undefined ? `License: ${license}` : readFileSync(join(folder, found), 'utf8').trim()
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return [
    `Stead\n\n${file('LICENSE')}\n`,
    `${file('third-party/README.md')}\n`,
    `${file('third-party/bzip2-license.txt')}\n`,
    ...others,
  ].join(LINE)
}

/**
 * Moves the lines of "Unreleased" below a heading of their own.
 * @param day like 2026-11-28
 * @throws Error when there is nothing to release, or the version is there already
 */
export function releaseChangelog(text: string, version: string, day: string): string {
  const heading = '## [Unreleased]\n'
  const at = text.indexOf(heading)
  if (at < 0) throw new Error('CHANGELOG.md has no section "Unreleased"')
  if (text.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md has a section for ${version} already`)
  const rest = text.slice(at + heading.length)
  if (!/^- /m.test(rest.split('\n## ')[0] as string)) throw new Error('"Unreleased" in CHANGELOG.md is empty')
  return `${text.slice(0, at)}${heading}\n## [${version}] - ${day}\n${rest}`
}

/** Returns whether a version follows another: both like 1.2.3, with or without `-beta.1`. */
export function isNewer(version: string, than: string): boolean {
  const parts = (text: string) => /^(\d+)\.(\d+)\.(\d+)(-[0-9a-z.-]+)?$/.exec(text)?.slice(1)
  const [own, other] = [parts(version), parts(than)]
  if (!own || !other) return false
  for (const place of [0, 1, 2]) if (own[place] !== other[place]) return Number(own[place]) > Number(other[place])
  // A version without a suffix follows those with one.
  if (own[3] === undefined || other[3] === undefined) return own[3] === undefined && other[3] !== undefined
  return own[3].localeCompare(other[3], 'en', { numeric: true }) > 0
}
