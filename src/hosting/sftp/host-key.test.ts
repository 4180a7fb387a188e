import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newKey, sftpHostKey } from './host-key.ts'

// As ssh2 1.17 generated it, without the zero byte that its public key begins with.
const shortened = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMgAAAAtz
c2gtZWQyNTUxOQAAAB/VJacQiCF7zSl+U3S9b3M14kRU/AEG0teoXReanO38AAAA
iLnLlG65y5RuAAAAC3NzaC1lZDI1NTE5AAAAH9UlpxCIIXvNKX5TdL1vczXiRFT8
AQbS16hdF5qc7fwAAAA/eRHp8w6BUdFy/leaDJ/ZKWejSsnUzULw8Y811hZ55IfV
JacQiCF7zSl+U3S9b3M14kRU/AEG0teoXReanO38AAAAAAECAwQFBgc=
-----END OPENSSH PRIVATE KEY-----
`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-host-key-'))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true, force: true })
})

describe('the SFTP host key', () => {
  it('is created once, even by concurrent processes, and is readable only by its owner', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => sftpHostKey(folder)))
    expect(new Set([...keys, await sftpHostKey(folder)]).size).toBe(1)
    expect(await readdir(folder)).toEqual(['sftp-host-key'])
    expect((await stat(join(folder, 'sftp-host-key'))).mode & 0o777).toBe(0o600)
  })

  it('is always readable, even when the library omits a zero byte', async () => {
    const sound = { private: newKey(), public: '' }
    vi.spyOn(ssh2.utils, 'generateKeyPairSync')
      .mockReturnValueOnce({ private: shortened, public: '' })
      .mockImplementation(() => sound)
    expect(await sftpHostKey(folder)).toBe(sound.private)
    expect(await readFile(join(folder, 'sftp-host-key'), 'utf8')).toBe(sound.private)
  })

  it('throws an error with instructions when the file holds something else', async () => {
    await writeFile(join(folder, 'sftp-host-key'), shortened)
    await expect(sftpHostKey(folder)).rejects.toThrow(/sftp-host-key is not a private key.*or remove it/)
    expect(await readFile(join(folder, 'sftp-host-key'), 'utf8')).toBe(shortened)
  })
})
