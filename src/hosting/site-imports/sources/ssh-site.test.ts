import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { contentFiles, makeDump } from '../../../../test/support/hosted-archives.ts'
import { keyPair, OldMachine, type OldMachineOptions, PASSWORD } from '../../../../test/support/old-machine.ts'
import { mirrorContent } from './mirror-content.ts'
import { OldSiteLost, OldSiteRefused } from './old-site.ts'
import { openSshSite, type SshSitePlace } from './ssh-site.ts'

let folder = ''
let machine: OldMachine
const on = (path: string) => join(folder, 'old', path)
const into = () => join(folder, 'content')
const put = async (path: string, text: string | Buffer, changedAt = 1_700_000_000) => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await utimes(path, changedAt, changedAt)
}

const CONFIG = String.raw`<?php
define('DB_NAME', 'shop\'s'); define( "DB_USER", 'me' );
define('DB_PASSWORD', 'p"a\\ss#1 x'); // define('DB_HOST', 'commented');
define('DB_HOST', 'db.internal:3307');
$table_prefix = 'shop_';
`

/** A script that prints a dump, and records its arguments and input. */
const DUMPER = (log: string, dump: string) => `#!/bin/sh
printf '%s\\n' "$@" > ${log}.arguments
for each in "$@"; do case "$each" in --defaults-extra-file=*) cat "\${each#*=}" > ${log}.options;; esac; done
cat ${dump}
`

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-old-'))
  for (const { name, content = '' } of contentFiles) await put(on(`site/wp-content/${name}`), String(content))
  await put(on('site/wp-includes/version.php'), "<?php\n$wp_version = '6.7.1';")
  await put(on('site/wp-config.php'), CONFIG)
  await put(join(folder, 'dump.sql'), makeDump({ prefix: 'shop_' }))
  await put(join(folder, 'bin/mysqldump'), DUMPER(join(folder, 'called'), join(folder, 'dump.sql')))
  await chmod(join(folder, 'bin/mysqldump'), 0o755)
  // Hides the programs of the machine that runs the tests.
  for (const name of ['sh', 'cat']) await symlink(`/bin/${name}`, join(folder, 'bin', name))
  machine = await OldMachine.start({ path: join(folder, 'bin') })
})
afterEach(async () => {
  machine.stop()
  await rm(folder, { recursive: true })
})

const keys: string[] = []
const signal = new AbortController().signal
const openSite = (
  more: Partial<SshSitePlace & { idleMs: number; allowPrivate: boolean; signal: AbortSignal }> = {},
) => {
  keys.length = 0
  const { port = machine.port, idleMs = 5000, allowPrivate = true, signal: ends = signal, ...place } = more
  return openSshSite(
    {
      host: '127.0.0.1',
      port,
      user: 'me',
      secret: { password: PASSWORD },
      hostKey: null,
      path: on('site'),
      ...place,
    },
    { allowPrivate, signal: ends, idleMs, maxEntries: 100, onHostKey: async (key) => void keys.push(key) },
  )
}
const bounds = () => ({ maxBytes: 1 << 24, maxEntries: 100, keepFreeBytes: 0, signal, parts: join(folder, 'parts') })

async function mirror(more: Partial<ReturnType<typeof bounds>> = {}) {
  const old = await openSite()
  try {
    return await mirrorContent(old, into(), { ...bounds(), ...more })
  } finally {
    await old.close()
  }
}
async function dumped(): Promise<string> {
  const old = await openSite()
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of old.dump()) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  } finally {
    await old.close()
  }
}
const filesIn = async (path: string) =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()
const using = (options: OldMachineOptions) => {
  machine.options = { ...machine.options, ...options }
}

describe('files', () => {
  test('fetches everything except caches in the first pass, and only changes in the second', async () => {
    const large = Buffer.alloc(3_000_001, 'x')
    await put(on('site/wp-content/uploads/large.bin'), large)
    const first = await mirror()
    const expected = [...contentFiles.map(({ name }) => name), 'uploads/large.bin']
    expect(await filesIn(into())).toEqual(expected.filter((name) => name !== 'cache/page.html').sort())
    // The folder exists, so that the plan names it.
    expect(await readdir(join(into(), 'cache'))).toEqual([])
    expect((await readFile(join(into(), 'uploads/large.bin'))).equals(large)).toBe(true)
    expect(first).toMatchObject({ files: 8, fetchedFiles: 8, links: 0, leftOutCount: 0 })

    await put(on('site/wp-content/uploads/made.css'), '@import "//old.example.com/b.css"', 1_700_000_001)
    await put(on('site/wp-content/uploads/new/one.txt'), 'one')
    await rm(on('site/wp-content/uploads/2026'), { recursive: true })
    machine.opened.length = 0
    expect(await mirror()).toMatchObject({ files: 8, fetchedFiles: 2 })
    const opened = machine.opened.filter((path) => path.includes('wp-content')).map((path) => path.split('/').at(-1))
    expect(opened.sort()).toEqual(['made.css', 'one.txt'])
    expect(await filesIn(join(into(), 'uploads'))).toEqual(['large.bin', 'made.css', 'new/one.txt'])
    expect(await readFile(join(into(), 'uploads/made.css'), 'utf8')).toContain('b.css')
  })

  test('continues a file where a cut connection left it', async () => {
    const large = Buffer.from(Array.from({ length: 4_000_000 }, (_, at) => at % 251))
    await rm(on('site/wp-content'), { recursive: true })
    await put(on('site/wp-content/uploads/large.bin'), large)
    const size = 2_000_000
    using({
      sftp: () => {
        if (machine.readBytes > size) machine.cut()
        return false
      },
    })
    await expect(mirror()).rejects.toThrow(OldSiteLost)
    const [part] = await readdir(join(folder, 'parts'))
    const kept = (await stat(join(folder, 'parts', part as string))).size
    expect(kept).toBeGreaterThan(0)
    using({ sftp: () => false })
    machine.readBytes = 0
    await mirror()
    expect(machine.readBytes).toBeLessThan(large.length - kept + 100_000)
    expect((await readFile(join(into(), 'uploads/large.bin'))).equals(large)).toBe(true)
  })

  test('replaces a file with a folder, and a folder with a file', async () => {
    await mirror()
    await rm(on('site/wp-content/uploads/made.css'))
    await put(on('site/wp-content/uploads/made.css/x.css'), 'x')
    await rm(on('site/wp-content/themes/plain'), { recursive: true })
    await put(on('site/wp-content/themes/plain'), 'a file')
    await mirror()
    expect(await filesIn(join(into(), 'uploads'))).toEqual(['2026/01/boat.txt', 'made.css/x.css'])
    expect(await readFile(join(into(), 'themes/plain'), 'utf8')).toBe('a file')
  })

  test('leaves out links and odd names, and lists them', async () => {
    await symlink('/etc', on('site/wp-content/uploads/link'))
    await symlink('/etc/passwd', on('site/wp-content/uploads/file'))
    await put(on('site/wp-content/uploads/back\\slash'), 'x')
    await put(Buffer.from(`${on('site/wp-content/uploads/')}\xfc`, 'latin1') as unknown as string, 'x').catch(() => {})
    const done = await mirror()
    expect(done).toMatchObject({ links: 2, files: 7 })
    expect(done.leftOut).toEqual(expect.arrayContaining(['uploads/link', 'uploads/file', 'uploads/back\\slash']))
    expect(await readdir(join(into(), 'uploads'))).toEqual(['2026', 'made.css'])
  })

  test('leaves out what the old machine does not provide, and lists it', async () => {
    using({
      sftp(name, request, sftp, path) {
        if (name !== 'OPEN' || !String(path).endsWith('boat.txt')) return false
        sftp.status(request, 3)
        return true
      },
    })
    expect(await mirror()).toMatchObject({ leftOut: ['uploads/2026/01/boat.txt'], leftOutCount: 1 })
    expect(await filesIn(join(into(), 'uploads'))).toEqual(['made.css'])
  })

  test('limits bytes and entries', async () => {
    await put(on('site/wp-content/uploads/large.bin'), Buffer.alloc(2 << 20))
    await expect(mirror({ maxBytes: 1 << 20 })).rejects.toThrow('more than the 1 MB allowed')
    await expect(mirror({ maxEntries: 5 })).rejects.toThrow('more than the 5 files and folders allowed')
    await expect(mirror({ keepFreeBytes: Number.MAX_SAFE_INTEGER })).rejects.toThrow('disk of the host is full')
  })

  const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 3, atime: 1, mtime: 1 }
  test.each(['..', 'a/b', '../../evil', '', '/etc/x', 'a\0b'])('creates nothing for the name %j', async (filename) => {
    let isSent = false
    using({
      sftp(name, request, sftp) {
        if (name !== 'READDIR' || isSent) return false
        isSent = true
        sftp.name(request, [{ filename, longname: '', attrs }])
        return true
      },
    })
    const before = await readdir(folder)
    await mirror()
    expect([...(await readdir(folder)), 'content'].sort()).toEqual([...before, 'content', 'content'].sort())
  })

  test('stops a list without an end', async () => {
    let number = 0
    using({
      sftp(name, request, sftp) {
        if (name !== 'READDIR') return false
        const list = Array.from({ length: 40 }, () => ({ filename: `f${number++}`, longname: '', attrs }))
        sftp.name(request, list)
        return true
      },
    })
    await expect(mirror()).rejects.toThrow('more than the 100 entries allowed')
    expect(number).toBeLessThan(400)
  })

  test('handles a file that grows or shrinks while it is read', async () => {
    await put(on('site/wp-content/uploads/log.txt'), 'one two three')
    using({
      sftp(name) {
        if (name !== 'READDIR') return false
        // Listed with one size, and found with another.
        void writeFile(on('site/wp-content/uploads/log.txt'), 'one')
        return false
      },
    })
    await mirror()
    using({ sftp: () => false })
    await put(on('site/wp-content/uploads/log.txt'), 'one two three four', 1_700_000_009)
    await mirror()
    expect(await readFile(join(into(), 'uploads/log.txt'), 'utf8')).toBe('one two three four')
  })
})

describe('database', () => {
  test('is dumped by the old machine, without its password on a command line', async () => {
    expect(await dumped()).toBe(makeDump({ prefix: 'shop_' }))
    expect(await readFile(join(folder, 'called.options'), 'utf8')).toBe(
      String.raw`[client]
user="me"
password="p\"a\\ss#1 x"
host="db.internal"
port="3307"
`,
    )
    const given = await readFile(join(folder, 'called.arguments'), 'utf8')
    expect(given.split('\n').slice(-3)).toEqual(['--', "shop's", ''])
    expect(machine.lines.join('\n')).not.toContain('ss#1')
  })

  test('is dumped by WP-CLI when there is no mysqldump', async () => {
    await rm(join(folder, 'bin/mysqldump'))
    await put(join(folder, 'bin/wp'), '#!/bin/sh\n[ "$*" = "db export -" ] && pwd && echo "-- of wp"\n')
    await chmod(join(folder, 'bin/wp'), 0o755)
    expect(await dumped()).toBe(`${on('site')}\n-- of wp\n`)
  })

  test('is dumped by WP-CLI when wp-config.php computes its name', async () => {
    await put(on('site/wp-config.php'), "<?php define('DB_NAME', getenv('DB')); $table_prefix = 'x_';")
    await expect(dumped()).rejects.toThrow(/plain words; WP-CLI: .*not found/)
  })

  test('reports what is missing with SFTP only, and what to do', async () => {
    machine.options = {}
    await expect(dumped()).rejects.toThrow(
      /makes no dump .*mysqldump: This service allows sftp connections only\..*import from an archive/,
    )
    expect(await mirror()).toMatchObject({ files: 7 })
  })

  test('refuses a dump that breaks off, with the error of the old machine', async () => {
    await put(
      join(folder, 'bin/mysqldump'),
      '#!/bin/sh\necho "-- dump"\necho "lost \u001b[31m connection" >&2\nexit 2\n',
    )
    await expect(dumped()).rejects.toThrow('mysqldump of the old machine failed: lost  [31m connection')
  })
})

describe('login', () => {
  test('reports facts about the old site', async () => {
    await put(join(folder, 'bin/php'), '#!/bin/sh\nprintf 8.1.27')
    await chmod(join(folder, 'bin/php'), 0o755)
    const old = await openSite()
    expect(old.facts).toEqual({ prefix: 'shop_', wordpress: '6.7.1', php: '8.1' })
    await old.close()
    expect(keys).toEqual([machine.fingerprint])
  })

  test('requires a known host key before it sends any secret', async () => {
    await (await openSite({ hostKey: machine.fingerprint })).close()
    expect(keys).toEqual([])
    const other = `SHA256:${'A'.repeat(43)}`
    await expect(openSite({ hostKey: other })).rejects.toThrow(`is ${machine.fingerprint}, and not ${other}`)
    expect(machine.logins).toEqual(['password'])
  })

  test('works with a key, and with interactive questions', async () => {
    const pair = keyPair()
    using({ publicKey: pair.public })
    await (await openSite({ secret: { privateKey: pair.private } })).close()
    using({ asks: true })
    await (await openSite()).close()
    expect(machine.logins).toEqual(['publickey', 'keyboard-interactive'])
  })

  test.each([
    [{ password: 'wrong' }, /does not admit me with this password/],
    [{ privateKey: keyPair().private }, /does not admit me with this key/],
  ])('refuses wrong credentials', async (secret, says) => {
    await expect(openSite({ secret })).rejects.toThrow(says)
    await expect(openSite({ secret })).rejects.toThrow(OldSiteRefused)
  })

  test('refuses a folder without WordPress, and finds wp-config.php one folder above', async () => {
    await expect(openSite({ path: folder })).rejects.toThrow(/^The folder .* has no wp-config.php. Send the folder/)
    await expect(openSite({ path: '/not-there' })).rejects.toThrow('has no /not-there')
    await rename(on('site/wp-config.php'), on('wp-config.php'))
    await (await openSite()).close()
  })

  test('refuses private addresses', async () => {
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]'])
      await expect(openSite({ host, allowPrivate: false })).rejects.toThrow(/not on the public internet/)
    expect(machine.logins).toEqual([])
  })

  test('fails when the machine is silent, and when it is gone', async () => {
    using({ sftp: (name) => name === 'REALPATH' })
    await expect(openSite({ idleMs: 300 })).rejects.toThrow('did not answer in time')
    const { port } = machine
    machine.stop()
    await expect(openSite({ port })).rejects.toThrow(/refused the connection/)
  })

  test('ends with its signal', async () => {
    const stop = new AbortController()
    using({
      sftp: (name) => {
        if (name === 'REALPATH') stop.abort(new Error('canceled'))
        return name === 'REALPATH'
      },
    })
    await expect(openSite({ signal: stop.signal })).rejects.toThrow('canceled')
  })
})
