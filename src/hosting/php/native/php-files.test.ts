import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type NativePhp, userChanger } from './native-php.ts'
import { PhpFiles } from './php-files.ts'
import { sandboxArguments } from './sandbox.ts'

describe.skipIf(!existsSync(userChanger))("PHP's files in one folder", () => {
  let folder: string
  let php: NativePhp
  let library: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-php-files-'))
    await writeFile(join(folder, 'php.so'), 'one')
    library = join(folder, 'php.so')
    php = { fpm: '', cli: '', extensions: [], files: [userChanger, library], folders: ['/usr/share/zoneinfo'] }
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it("match the machine's, are readable for everyone, and are linked once", async () => {
    const files = new PhpFiles(join(folder, 'laid'))
    const laid = (await files.of(php)) as string
    expect(await readFile(laid + library, 'utf8')).toBe('one')
    expect((await stat(`${laid}/usr/share/zoneinfo`)).mode & 0o777).toBe(0o755)
    expect(await files.of(php)).toBe(laid)
  })

  it('are linked again when a package was upgraded', async () => {
    const files = new PhpFiles(join(folder, 'laid'))
    const before = (await files.of(php)) as string
    await writeFile(`${library}.new`, 'two')
    await rename(`${library}.new`, library)
    const after = (await files.of(php)) as string
    expect(await readFile(after + library, 'utf8')).toBe('two')
    expect(await readFile(before + library, 'utf8')).toBe('one')
  })

  it('are mounted into a sandbox one by one if the folder cannot be created', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    expect(await new PhpFiles(join(file, 'laid')).of(php)).toBeUndefined()
    const given = {
      php,
      siteDirectory: '/h',
      core: '/c',
      uid: null,
      settings: '/s',
      isReadOnly: false,
      environment: {},
    }
    const program = { folder, php: '/p', etc: '/e', certificates: '/ca', networkChild: '', remove: async () => {} }
    const singly = sandboxArguments({ ...given, program })
    expect(singly.slice(singly.indexOf(library) - 1)).toEqual(expect.arrayContaining(['--ro-bind', library]))
    const together = sandboxArguments({ ...given, program, phpFiles: '/laid' })
    expect(together).toContain('/laid/usr')
    expect(together).not.toContain(library)
  })
})
