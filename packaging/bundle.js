/**
 * Bundles the modules of a built Stead, and the packages that a start loads, into a few files. Node takes about a
 * millisecond of processor time to find and link a module, and Stead's four processes load thousands of them at a
 * start.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

/** Files that are started by name, without `.js`. Other threads and children load few modules, and stay as they are. */
const entries = ['main', 'roles/start/preparing']

/**
 * Licenses that only require their text to be included. It is in `LICENSES`. The Apache License requires more, such as
 * notes of changes, so those packages stay where npm puts them.
 */
const allowedLicenses = new Set(['0BSD', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'])
const LICENSES = 'third-party-licenses.txt'

/** Packages that cannot move, with the reason. */
const excluded = {
  '@fastify/static': 'sends files that stand beside it',
  '@fastify/swagger-ui': 'sends files that stand beside it',
  '@peculiar/': 'shares a registry between its packages',
  '@php-wasm/': 'PHP itself, read by path',
  asn1js: 'shares a registry with @peculiar',
  pino: 'starts threads from its own files',
  ssh2: 'has a part in C++',
  '@simplewebauthn/server': 'needs its own version of @peculiar/x509',
  'thread-stream': 'starts threads from its own files',
}

/**
 * @param {string} dist a folder that mirrors the root, with JavaScript below `src`
 * @throws Error if the result would resolve a package differently than npm has installed it
 */
export async function bundle(dist) {
  const source = join(dist, 'src')
  const build = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(source, `${name}.js`)])),
    platform: 'node',
    plugins: [ownPackages(dist), ownPlaces(source)],
    onLog(level, log) {
      if (level === 'warn' && log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') console.error(log.message)
    },
  })
  const { output } = await build.write({
    dir: source,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: false },
    intro: ({ fileName }) => `const here$ = new URL(${JSON.stringify(upFrom(fileName))}, import.meta.url)`,
  })
  await build.close()
  const modules = output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
  writeFileSync(
    join(dist, LICENSES),
    licensesOf(modules.filter((id) => !id.startsWith(dist) && id.includes('node_modules'))),
  )
}

/** @param {string} file below `src` */
const upFrom = (file) => `./${'../'.repeat(file.split('/').length - 1)}`

/**
 * Keeps the location of a module that finds files relative to itself.
 * @param {string} source
 */
function ownPlaces(source) {
  return {
    name: 'own-places',
    /**
     * @param {string} code
     * @param {string} id
     */
    transform(code, id) {
      if (!id.startsWith(source) || !code.includes('import.meta.')) return undefined
      const file = relative(source, id).split(sep).join('/')
      const address = (/** @type {string} */ path) => `new URL(${JSON.stringify(path)}, here$).href`
      const path = (/** @type {string} */ place) => `process.getBuiltinModule('url').fileURLToPath(${address(place)})`
      return code
        .replaceAll('import.meta.dirname', path(dirname(file)))
        .replaceAll('import.meta.filename', path(file))
        .replaceAll('import.meta.url', address(file))
    },
  }
}

/**
 * Leaves packages in place that cannot move.
 * @param {string} dist
 */
function ownPackages(dist) {
  const fromStead = createRequire(join(dist, 'package.json'))
  return {
    name: 'own-packages',
    /**
     * @this {{ resolve(source: string, importer?: string, options?: object): Promise<{ id: string } | null> }}
     * @param {string} id
     * @param {string} [importer]
     */
    async resolveId(id, importer, /** @type {object} */ options) {
      if (id.startsWith('.') || id.startsWith('/') || id.startsWith('node:')) return undefined
      const found = await this.resolve(id, importer, { ...options, skipSelf: true })
      if (!found?.id.includes('node_modules')) return { id, external: true }
      const { folder, name } = packageOf(found.id)
      if (mayMove(folder, name)) return undefined
      // An import of Stead would resolve from the root. An import of a bundled package must resolve to the same file.
      const fromRoot = folderFrom(fromStead, name)
      if (fromRoot !== folder) throw new Error(`${importer} needs ${folder}, and would get ${fromRoot}`)
      return { id, external: true }
    },
  }
}

/**
 * @param {string} folder
 * @param {string} name
 */
function mayMove(folder, name) {
  if (Object.keys(excluded).some((each) => name === each || (each.endsWith('/') && name.startsWith(each)))) return false
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return allowedLicenses.has(license)
}

/** @param {string} file */
function packageOf(file) {
  const match = /^(.*[\\/]node_modules[\\/])((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)
  if (!match) throw new Error(`${file} is in no package`)
  const [folder, , name = ''] = match
  return { folder, name: name.split(sep).join('/') }
}

/**
 * @param {NodeJS.Require} require
 * @param {string} name
 */
function folderFrom(require, name) {
  for (const path of require.resolve.paths(name) ?? []) if (existsSync(join(path, name))) return join(path, name)
  return undefined
}

/** @param {readonly string[]} modules of packages */
function licensesOf(modules) {
  const folders = new Set(modules.map((id) => packageOf(id).folder))
  const texts = [...folders].map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name))
    const by = typeof author === 'string' ? author : author?.name
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `License: ${license}${by ? `, by ${by}` : ''}`
    return `${name} ${version}\n\n${text}\n`
  })
  return `Stead's program holds code of these packages.\n\n${texts.toSorted().join(`\n${'-'.repeat(80)}\n\n`)}`
}
