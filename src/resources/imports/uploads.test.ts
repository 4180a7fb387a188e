import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { unique } from '../../../test/support/samples.ts'
import { HostAway } from '../../hosting/site-imports/send-part.ts'
import { PartDoor } from '../../hosting/site-imports/upload-parts.ts'

describe.each(dialects.filter(({ skip }) => !skip))('uploads of imports on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let folder: string
  let door: PartDoor
  let site: number
  let isAway = false
  let sent: { host: string; bytes: number | undefined }[] = []
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'uploads-'))
    door = new PartDoor({ folderOf: (id) => join(folder, String(id)), keepFreeBytes: 0 })
    api = await testApi(dialect, {
      settings: { STEAD_IMPORT_MAX_MB: '1' },
      async sendPart(host, part, content) {
        sent.push({ host, bytes: content.bytes })
        if (isAway) throw new HostAway('away')
        return door.take(part, content)
      },
    })
  })
  beforeEach(async () => {
    owner = await api.person(`owner-${unique()}@example.com`)
    site = await api.site(owner, `uploads-${unique()}`)
    isAway = false
    sent = []
  })
  afterAll(async () => {
    await api.close()
    rmSync(folder, { recursive: true })
  })

  async function create(...bytes: number[]): Promise<string> {
    const files = bytes.map((each, index) => ({ name: `part-${index}.zip`, bytes: each }))
    const { status, body } = await owner.call('POST', `/v1/sites/${site}/imports`, { files })
    expect([status, body.errors]).toEqual([201, null])
    return `/v1/sites/${site}/imports/${body.data.id}`
  }
  const put = async (path: string, payload: string, by = owner) => {
    const headers = { authorization: `Bearer ${by.token}`, 'content-type': 'application/octet-stream' }
    const response = await api.app.inject({ method: 'PUT', url: path, headers, payload })
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }
  const fileOf = (path: string, number = 1) =>
    readFileSync(join(folder, path.split('/').at(-1) as string, String(number)), 'utf8')
  const read = async (path: string) => (await owner.call('GET', path)).body.data

  it('200: inspects an import once all parts of its files are complete', async () => {
    const path = await create(5, 2)
    expect(await read(path)).toMatchObject({ state: 'uploading', sources: ['part-0.zip', 'part-1.zip'] })
    const first = await put(`${path}/uploads/1?offset=0`, 'abc')
    expect([first.status, first.headers['operation-id']]).toEqual([200, undefined])
    expect((await put(`${path}/uploads/2?offset=0`, 'xy')).body.data.uploads).toEqual([
      { number: 1, name: 'part-0.zip', bytes: 5, received: 3 },
      { number: 2, name: 'part-1.zip', bytes: 2, received: 2 },
    ])
    const last = await put(`${path}/uploads/1?offset=3`, 'de')
    expect([last.status, last.body.data.state]).toEqual([200, 'inspecting'])
    expect([fileOf(path, 1), fileOf(path, 2)]).toEqual(['abcde', 'xy'])
    const { body } = await owner.call('GET', `/v1/operations/${last.headers['operation-id']}`)
    expect(body.data).toMatchObject({ type: 'import.inspect' })
    expect(sent[0]).toEqual({ host: 'http://127.0.0.1:1', bytes: 3 })
  })

  it('409: counts what was stored while the response was lost', async () => {
    const path = await create(5)
    const id = Number(path.split('/').at(-1))
    async function* lost() {
      yield Buffer.from('abc')
    }
    await door.take({ importId: id, file: 1, offset: 0, mostBytes: 5, sha256: null }, lost())
    const again = await put(`${path}/uploads/1?offset=0`, 'abc')
    expect([again.status, again.body.code]).toEqual([409, 'import_part_elsewhere'])
    expect((await read(path)).uploads[0].received).toBe(3)
    expect((await put(`${path}/uploads/1?offset=3`, 'de')).body.data.state).toBe('inspecting')
  })

  it('503: changes nothing while a host is away, and accepts the part again', async () => {
    const path = await create(3)
    isAway = true
    const refused = await put(`${path}/uploads/1?offset=0`, 'abc')
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([503, 'import_host_away', '5'])
    isAway = false
    expect((await put(`${path}/uploads/1?offset=0`, 'abc')).status).toBe(200)
  })

  it('400: for more than STEAD_IMPORT_MAX_MB in total, before a byte is sent', async () => {
    const files = [1, 2].map((number) => ({ name: `${number}.zip`, bytes: 600_000 }))
    const { status, body } = await owner.call('POST', `/v1/sites/${site}/imports`, { files })
    expect([status, body.code]).toEqual([400, 'import_too_large'])
  })

  it('400: for neither addresses nor files, and for both', async () => {
    const file = { name: 'a.zip', bytes: 1 }
    for (const body of [{}, { urls: ['https://example.com/a.zip'], files: [file] }])
      expect((await owner.call('POST', `/v1/sites/${site}/imports`, body)).status).toBe(400)
  })

  it.each(['../a', 'a/b', '..', 'a\u0000b', ''])('400: for a file named %j', async (name) => {
    const body = { files: [{ name, bytes: 1 }] }
    expect((await owner.call('POST', `/v1/sites/${site}/imports`, body)).status).toBe(400)
  })

  it('404: for an import of another site, an unknown file, and another account, and sends nothing', async () => {
    const path = await create(3)
    const other = await api.site(owner, `uploads-${unique()}`)
    const stranger = await api.person(`stranger-${unique()}@example.com`)
    expect((await put(`${path.replace(String(site), String(other))}/uploads/1?offset=0`, 'abc')).status).toBe(404)
    expect((await put(`${path}/uploads/2?offset=0`, 'abc')).status).toBe(404)
    expect((await put(`${path}/uploads/1?offset=0`, 'abc', stranger)).status).toBe(404)
    expect(sent).toEqual([])
  })

  it('413: does not read a part above the size limit', async () => {
    const path = await create(3)
    const headers = { authorization: `Bearer ${owner.token}`, 'content-length': String(17 << 20) }
    const response = await api.app.inject({ method: 'PUT', url: `${path}/uploads/1?offset=0`, headers })
    expect([response.statusCode, response.json().code]).toEqual([413, 'body_too_large'])
    expect(sent).toEqual([])
  })

  it('an import that is never completed expires, and can be deleted', async () => {
    const path = await create(3)
    await put(`${path}/uploads/1?offset=0`, 'a')
    expect((await owner.call('DELETE', path)).status).toBe(200)
    expect((await put(`${path}/uploads/1?offset=1`, 'b')).body.code).toBe('import_not_ready')
  })
})
