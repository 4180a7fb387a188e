import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everyPart, type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import type { SendPart } from '../../hosting/site-imports/send-part.ts'
import type { Taken } from '../../hosting/site-imports/upload-parts.ts'
import { runForApi } from './main.ts'

let api: TestApi
let url: string
let owner: Person
let folder: string
let site = 0
let sent: { file: number; offset: number; bytes: number }[] = []
/** Replaces the host's answer to a part. */
let fault: (offset: number) => Taken | undefined = () => undefined
const sendPart: SendPart = async (host, part, content) => {
  const other = fault(part.offset)
  if (other) return other
  const taken = await everyPart(host, part, content)
  if (taken.kind === 'taken') sent.push({ file: part.file, offset: part.offset, bytes: taken.bytes - part.offset })
  return taken
}
beforeAll(async () => {
  api = await testApi('sqlite', { sendPart })
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  owner = await api.person('owner@example.com')
  folder = await mkdtemp(join(tmpdir(), 'stead-upload-'))
})
afterAll(async () => {
  await api?.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  fault = () => undefined
  sent = []
  site = await api.site(owner, `upload-${Math.random().toString(36).slice(2)}`)
  await writeFile(join(folder, 'site.wpress'), 'x')
  await truncate(join(folder, 'site.wpress'), 9 << 20)
  await writeFile(join(folder, 'dump.sql'), 'SELECT 1;')
})

async function upload(...words: string[]) {
  const said = { out: '', err: '' }
  const to = (name: 'out' | 'err') => ({
    isTTY: false,
    columns: undefined,
    write: (text: string) => {
      said[name] += text
    },
  })
  const environment = {
    STEAD_API_URL: url,
    STEAD_CLIENT_ID: owner.clientId,
    STEAD_CLIENT_SECRET: owner.clientSecret,
    XDG_CONFIG_HOME: folder,
  }
  const line = ['imports', 'upload', String(site), ...words]
  const code = await runForApi(line, { environment, out: to('out'), err: to('err'), isInteractive: false })
  return { code, ...said }
}
const at = (name: string) => join(folder, name)

describe('stead imports upload', () => {
  test('sends files in parts, and shows the progress', async () => {
    const { code, out, err } = await upload(at('site.wpress'), at('dump.sql'), '--json')
    expect([code, JSON.parse(out)]).toMatchObject([0, { state: 'inspecting', sources: ['site.wpress', 'dump.sql'] }])
    expect(sent.map(({ file, offset }) => [file, offset]).slice(0, 2)).toEqual([
      [1, 0],
      [1, 4 << 20],
    ])
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBe((9 << 20) + 9)
    expect(err).toMatch(/^0% uploaded \(0\.0 MB of 9\.4 MB\)\n[\s\S]*100% uploaded/)
  })

  test('resumes where it was interrupted, and sends nothing twice', async () => {
    fault = (offset) => {
      if (offset > 0) throw new Error('broken')
      return undefined
    }
    const { code } = await upload(at('site.wpress'))
    expect(code).toBe(1)
    fault = () => undefined
    const again = await upload(at('site.wpress'), '--json')
    expect(again.err).toMatch(/^Continuing import \d+\.\n/)
    expect(JSON.parse(again.out).state).toBe('inspecting')
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(9 << 20)
  })

  test.each<Taken>([{ kind: 'damaged' }, { kind: 'elsewhere', bytes: 0 }])(
    'retries after %j, up to a limit',
    async (taken) => {
      let failures = 3
      fault = () => (failures-- > 0 ? taken : undefined)
      expect((await upload(at('dump.sql'))).code).toBe(0)
      site = await api.site(owner, `again-${Math.random().toString(36).slice(2)}`)
      failures = Number.POSITIVE_INFINITY
      expect((await upload(at('dump.sql'))).code).toBe(1)
    },
  )

  test('refuses a path that is not a file before any request', async () => {
    expect(await upload(at('nothing.zip'))).toMatchObject({ code: 2, err: expect.stringContaining('is not a file.') })
    expect((await upload()).err).toContain('FILE is missing')
  })
})
