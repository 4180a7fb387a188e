import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { notes } from './index.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`notes on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let editor: Person
    let site: number
    let other: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      editor = await api.person('editor@example.com')
      site = await api.site(owner, 'noted-site')
      other = await api.site(owner, 'other-site')
      const body = { email: editor.email, roles: ['manage_notes'] }
      expect((await owner.call('POST', `/v1/sites/${site}/collaborators`, body)).status).toBe(200)
    })
    afterAll(() => api.close())

    test('200: stores HTML as sent, and distinguishes author and editor', async () => {
      const html = '<script>alert("1")</script>\u00e9<p onclick=x>'
      const made = await owner.call('POST', `/v1/sites/${site}/notes`, { subject: 'First', body: html })
      expect(made.body.data).toMatchObject({ subject: 'First', body: html, author: 'owner', editor: 'owner' })
      const path = `/v1/sites/${site}/notes/${made.body.data.id}`
      const changed = await editor.call('PUT', path, { subject: 'Second' })
      expect(changed.body.data).toMatchObject({ subject: 'Second', body: html, author: 'owner', editor: 'editor' })
      expect((await owner.call('GET', path)).body.data).toEqual(changed.body.data)
    })

    test('200: newest first, in pages', async () => {
      const ids: number[] = []
      for (const subject of ['a', 'b', 'c'])
        ids.push((await owner.call('POST', `/v1/sites/${other}/notes`, { subject, body: '' })).body.data.id)
      const page = await owner.call('GET', `/v1/sites/${other}/notes?per_page=2&page=2`)
      expect(page.body).toMatchObject({
        data: [{ id: ids[0] }],
        page: { currentPage: 2, lastPage: 2, nextPage: null, perPage: 2, totalItems: 3 },
      })
    })

    test('400, 404: an empty change, a note of another site, a deleted note', async () => {
      const { id } = (await owner.call('POST', `/v1/sites/${other}/notes`, { subject: 's', body: 'b' })).body.data
      expect((await owner.call('PUT', `/v1/sites/${other}/notes/${id}`, {})).status).toBe(400)
      expect((await owner.call('POST', `/v1/sites/${other}/notes`, { body: 'b' })).body.errors).toEqual([
        'subject: is required',
      ])
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect((await owner.call(method, `/v1/sites/${site}/notes/${id}`, { subject: 'x' })).status).toBe(404)
      expect((await owner.call('DELETE', `/v1/sites/${other}/notes/${id}`)).body.data).toBeNull()
      expect((await owner.call('GET', `/v1/sites/${other}/notes/${id}`)).status).toBe(404)
    })

    test('forgets the notes of a forgotten site, and no others', async () => {
      const [gone, stays] = [await api.site(owner, 'gone-site'), await api.site(owner, 'staying-site')]
      for (const id of [gone, stays]) await owner.call('POST', `/v1/sites/${id}/notes`, { subject: 's', body: 'b' })
      await api.database.transaction(async (tx) => notes.siteHooks?.forgotten?.(tx, gone))
      const left = async (id: number) => (await owner.call('GET', `/v1/sites/${id}/notes`)).body.data.length
      expect([await left(gone), await left(stays)]).toEqual([0, 1])
    })
  })
}
