/** Archives of a small site, in the formats of common tools. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { type MadeEntry, makeTar, makeZip } from './archives.ts'

/** Creates an All-in-One WP Migration archive with exactly these files. */
export function makeWpress(entries: readonly MadeEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', claims }) => {
    const at = name.lastIndexOf('/')
    const plain = Buffer.from(content)
    const header = Buffer.alloc(4377)
    header.write(name.slice(at + 1), 0)
    header.write(String(claims?.sizeBytes ?? plain.length), 255)
    header.write('1700000000', 269)
    header.write(at < 0 ? '.' : name.slice(0, at) || '/', 281)
    return [header, plain]
  })
  return Buffer.concat([...blocks, Buffer.alloc(4377)])
}

export interface DafForm {
  readonly version?: string
  readonly compressed?: boolean
  readonly password?: string
  /** The bytes of a file in one piece. */
  readonly pieceBytes?: number
  /** Changes what one piece claims. */
  readonly claims?: (piece: { original: number; stored: number; sum: string }) => object
}

/** Creates an archive in Duplicator's own format with exactly these entries, after its table of contents. */
export function makeDaf(entries: readonly MadeEntry[], form: DafForm = {}): Buffer {
  const { version = '5.0.1', compressed = true, password = '', pieceBytes = 65_536, claims } = form
  const isNew = Number.parseInt(version, 10) >= 5
  const flags = (compressed ? 1 : 0) | (password ? 2 : 0)
  const x = (value: number) => (isNew ? `<X>${String.fromCharCode(value, 0)}</X>` : '')
  const path = (name: string) => `<RPL>${Buffer.byteLength(name)}</RPL><RP>${Buffer.from(name).toString('latin1')}</RP>`
  const sumOf = (bytes: Buffer) => crc32(bytes).toString(16).padStart(8, '0')
  const file = ({ name, content = '', claims: claimed }: MadeEntry, own = flags, storedBytes = 0): string => {
    const plain = Buffer.from(content)
    const size = claimed?.sizeBytes ?? plain.length
    let text = `<F><FS>${size}</FS><MT>1700000000</MT><P>0644</P>${x(own)}<HA>${sumOf(plain)}</HA>${path(name)}</F>`
    for (let at = 0; at < plain.length; at += pieceBytes) {
      const piece = plain.subarray(at, at + pieceBytes)
      const packed = own & 1 && storedBytes === 0 ? deflateRawSync(piece, { level: 2 }) : piece
      const stored = Buffer.concat([packed, Buffer.alloc(Math.max(0, storedBytes - packed.length))])
      const honest = { original: piece.length, stored: stored.length, sum: sumOf(isNew ? piece : stored) }
      const said = { ...honest, ...claims?.(honest) }
      const head = `<G><OS>${said.original}</OS><SS>${said.stored}</SS><HA>${said.sum}</HA></G>`
      text += head + stored.toString('latin1')
    }
    return text
  }
  const head = isNew ? `${x(flags)}<P>${password}</P>` : `<C>${compressed}</C>`
  const index = file({ name: '__dup__archive__index.json', content: '{"extraPos":0}' }, isNew ? 0 : flags, 2000)
  const rest = entries.map((entry) =>
    entry.name.endsWith('/') ? `<D><MT>1700000000</MT><P>0755</P>${path(entry.name.slice(0, -1))}</D>` : file(entry),
  )
  return Buffer.from(`<A><V>${version}</V>${head}</A>${index}${rest.join('')}`, 'latin1')
}

export interface OldSite {
  readonly prefix?: string
  readonly home?: string
  readonly options?: Readonly<Record<string, string>>
  readonly more?: string
}

/** Creates a dump of a WordPress that has only a few tables. */
export function makeDump({
  prefix = 'wp_',
  home: directory = 'https://old.example.com',
  options = {},
  more = '',
}: OldSite = {}) {
  const all = {
    siteurl: directory,
    home: directory,
    blogname: 'Imported',
    db_version: '1',
    admin_email: '',
    ...options,
  }
  const rows = Object.entries(all).map(([name, value], at) => `(${at + 1},'${name}','${value}','yes')`)
  const text = (name: string, type = 'longtext') => `\`${name}\` ${type}`
  return `-- MariaDB dump
CREATE TABLE \`${prefix}options\` (\`option_id\` bigint NOT NULL AUTO_INCREMENT, \`option_name\` varchar(191), \`option_value\` longtext, \`autoload\` varchar(20), PRIMARY KEY (\`option_id\`));
INSERT INTO \`${prefix}options\` VALUES ${rows.join(',')};
CREATE TABLE \`${prefix}posts\` (\`ID\` bigint NOT NULL, ${text('guid')}, ${text('post_content')}, PRIMARY KEY (\`ID\`));
INSERT INTO \`${prefix}posts\` VALUES (1,'${directory}/?p=1','See ${directory}/about/');
CREATE TABLE \`${prefix}postmeta\` (\`meta_id\` bigint NOT NULL, \`post_id\` bigint NOT NULL, PRIMARY KEY (\`meta_id\`));
CREATE TABLE \`${prefix}users\` (\`ID\` bigint NOT NULL, ${text('user_login', 'varchar(60)')}, PRIMARY KEY (\`ID\`));
INSERT INTO \`${prefix}users\` VALUES (1,'anna');
CREATE TABLE \`${prefix}usermeta\` (\`umeta_id\` bigint NOT NULL, ${text('meta_key', 'varchar(255)')}, ${text('meta_value')}, PRIMARY KEY (\`umeta_id\`));
INSERT INTO \`${prefix}usermeta\` VALUES (1,'${prefix}capabilities','a:1:{s:13:"administrator";b:1;}');
${more}
-- Dump completed on 2026-01-31
`
}

const FORMS = `<?php
/**
 * Plugin Name: Forms
 * Version: 1.2
 * Requires PHP: 9.9
 */
`

/** Files below `wp-content`, with leftovers of an old host. */
export const contentFiles: readonly MadeEntry[] = [
  { name: 'plugins/forms/forms.php', content: FORMS },
  { name: 'themes/plain/style.css', content: '/* Theme Name: Plain */' },
  { name: 'uploads/2026/01/boat.txt', content: 'a boat' },
  { name: 'uploads/made.css', content: '@import "//old.example.com/a.css"' },
  { name: 'mu-plugins/own.php', content: '<?php // of the owner' },
  { name: 'mu-plugins/kinsta-mu-plugins.php', content: '<?php // of the host' },
  { name: 'object-cache.php', content: '<?php // drop-in' },
  { name: 'cache/page.html', content: 'old' },
]

const below = (folder: string, entries = contentFiles): MadeEntry[] =>
  entries.map((entry) => ({ ...entry, name: `${folder}/${entry.name}` }))

const packageJson = JSON.stringify({ WordPress: { Version: '6.8' }, PHP: { Version: '8.1.2' } })

const wordpress = (folder: string, prefix: string): MadeEntry[] => [
  ...below(`${folder}wp-content`),
  { name: `${folder}wp-includes/version.php`, content: "<?php\n$wp_version = '6.8';" },
  { name: `${folder}wp-config.php`, content: `<?php\n$table_prefix = '${prefix}';\n` },
]

const duplicatorEntries = (): MadeEntry[] => [
  ...wordpress('', 'old_'),
  { name: 'dup-installer/dup-archive__0123.txt', content: '{}' },
  { name: 'dup-installer/dup-database__0123.sql', content: makeDump({ prefix: 'old_' }) },
]

/** The same site in all formats that can be imported: file name → bytes. */
export const archivesOf = {
  wpress: () => ({
    'site.wpress': makeWpress([
      { name: 'package.json', content: packageJson },
      { name: 'database.sql', content: makeDump({ prefix: 'SERVMASK_PREFIX_' }) },
      ...contentFiles,
    ]),
  }),
  updraftplus: () => {
    const name = (part: string) => `backup_2026-01-31-0930_Old_0123456789ab-${part}`
    const of = (part: string) => makeZip(contentFiles.filter((entry) => entry.name.startsWith(`${part}/`)))
    const parts = ['plugins', 'themes', 'uploads', 'mu-plugins']
    return {
      ...Object.fromEntries(parts.map((part) => [name(`${part}.zip`), of(part)])),
      [name('others.zip')]: makeZip([
        { name: 'object-cache.php', content: '<?php // drop-in' },
        { name: 'cache/page.html', content: 'old' },
      ]),
      [name('db.gz')]: gzipSync(makeDump()),
    }
  },
  duplicator: () => ({
    'archive.zip': makeZip(duplicatorEntries()),
  }),
  daf: () => ({ 'archive.daf': makeDaf([{ name: 'wp-content/' }, ...duplicatorEntries()]) }),
  'daf of Duplicator 4': () => ({ 'archive.daf': makeDaf(duplicatorEntries(), { version: '1.0.0' }) }),
  files: () => ({
    'site.tar.gz': gzipSync(
      makeTar([...wordpress('public_html/', 'wp_'), { name: 'public_html/link', linkTo: '/etc' }]),
    ),
    'database.sql': Buffer.from(makeDump()),
  }),
}
