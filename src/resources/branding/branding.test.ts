import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { ofBrowser, type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { accentShades, contrast, panelLooks, readableOnWhite, textOn } from '../../colors.ts'
import { setSuspended } from '../account/account.store.ts'
import { MOST_LOGO_BYTES, readLogo } from './agency-logo.ts'
import { pngOf, smallPng } from './branding.fixture.ts'
import { brandingOf, brandOfMail } from './branding.store.ts'

describe('colors', () => {
  it('writes on every color in the shade with enough contrast', () => {
    for (const color of ['#ffffff', '#ffff00', '#ff7a00', '#767676', '#0f766e', '#1f4fd8', '#000000', '#ff00ff'])
      expect(contrast(color, textOn(color)), color).toBeGreaterThanOrEqual(4.5)
    expect(textOn('#ffff00')).toBe('#111318')
    expect(textOn('#0f766e')).toBe('#ffffff')
  })

  it('darkens a light color until it can be read on white, and leaves others alone', () => {
    expect(readableOnWhite('#0f766e')).toBe('#0f766e')
    for (const color of ['#ffff00', '#ffffff', '#ff7a00'])
      expect(contrast(readableOnWhite(color), '#ffffff'), color).toBeGreaterThanOrEqual(4.5)
  })
})

describe('shades of an accent color', () => {
  const colors = ['#ffffff', '#ffff00', '#ff7a00', '#0f766e', '#1f4fd8', '#000000', '#ff00ff', '#777777', '#111318']

  it.each(['light', 'dark'] as const)('can be read in the %s look', (look) => {
    for (const color of colors) {
      const { accent, hover, soft, on } = accentShades(color, look)
      for (const behind of [...panelLooks[look].behindLinks, panelLooks[look].surface, soft])
        expect(contrast(accent, behind), `${color} on ${behind}`).toBeGreaterThanOrEqual(4.5)
      for (const behind of [accent, hover])
        expect(contrast(on, behind), `text on ${behind}`).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('are the color itself where that can be read', () => {
    expect(accentShades('#0f766e', 'light').accent).toBe('#0f766e')
    expect(accentShades('#7ad8c6', 'dark').accent).toBe('#7ad8c6')
  })

  it('are for the backgrounds that the panel has', () => {
    const tokens = readFileSync('src/panel/styles/tokens.css', 'utf8')
    const pairOf = (token: string) => new RegExp(`--${token}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens)?.slice(1)
    const [bg, surface, raised, sunken, hover] = ['bg', 'surface', 'raised', 'sunken', 'hover'].map(pairOf)
    for (const [at, look] of (['light', 'dark'] as const).entries()) {
      const { surface: known, behindLinks } = panelLooks[look]
      expect(known).toBe(surface?.[at])
      const darkest = (color: string) => (look === 'light' ? contrast(color, '#000000') : contrast(color, '#ffffff'))
      const least = Math.min(...behindLinks.map(darkest))
      for (const each of [bg, surface, raised, sunken, hover])
        expect(darkest(each?.[at] as string), `${look} ${each?.[at]}`).toBeGreaterThanOrEqual(least)
    }
  })
})

describe('logos', () => {
  const webp = (form: string, rest: (bytes: Buffer) => unknown) => {
    const bytes = Buffer.alloc(40)
    bytes.write(`RIFF....WEBP${form}`, 'latin1')
    rest(bytes)
    return bytes
  }

  test.each([
    ['png', Buffer.from(pngOf(300, 80), 'base64'), 'image/png'],
    ['webp, lossy', webp('VP8 ', (bytes) => [bytes.writeUInt16LE(300, 26), bytes.writeUInt16LE(80, 28)]), 'image/webp'],
    ['webp, lossless', webp('VP8L', (bytes) => bytes.writeUInt32LE(299 | (79 << 14), 21)), 'image/webp'],
    [
      'webp, extended',
      webp('VP8X', (bytes) => [bytes.writeUIntLE(299, 24, 3), bytes.writeUIntLE(79, 27, 3)]),
      'image/webp',
    ],
    ['jpeg', Buffer.from('ffd8ffe000040000ffc0000b0800500' + '12c0311000000', 'hex'), 'image/jpeg'],
  ])('reads the size of %s', (_form, bytes, type) => {
    expect(readLogo(bytes)).toEqual({ type, width: 300, height: 80 })
  })

  test.each([
    ['svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['gif', Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1')],
    ['html behind the first bytes of JPEG', Buffer.from('\xff\xd8<html>', 'latin1')],
    ['nothing', Buffer.alloc(0)],
    ['the beginning of PNG only', Buffer.from(smallPng, 'base64').subarray(0, 20)],
    ['a PNG without width', Buffer.from(pngOf(0, 80), 'base64')],
  ])('refuses %s', (_what, bytes) => {
    expect(readLogo(bytes)).toBeUndefined()
  })
})

describe.each(dialects)('branding on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const put = async (body: object) => owner.call('PUT', '/v1/account/branding', body)
  const get = async () => (await owner.call('GET', '/v1/account/branding')).body.data
  const nothing = { name: null, color: null, reply_to: null, logo_location: null }

  it('changes the given fields, keeps the others, and restores the default', async () => {
    expect(await get()).toEqual(nothing)
    await put({ name: ' Northlight ', color: '#0F766E', logo: smallPng })
    await put({ reply_to: 'hello@example.com' })
    const all = { name: 'Northlight', color: '#0f766e', reply_to: 'hello@example.com' }
    expect(await get()).toEqual({ ...all, logo_location: '/v1/account/branding/logo' })
    expect(await brandingOf(api.database.read, owner.accountId)).toMatchObject({
      logo: `data:image/png;base64,${smallPng}`,
    })
    const logo = await owner.call('GET', '/v1/account/branding/logo')
    expect(logo.headers).toMatchObject({ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' })
    await put({ name: null, color: null, reply_to: null, logo: null })
    expect(await get()).toEqual(nothing)
    expect((await owner.call('GET', '/v1/account/branding/logo')).body).toMatchObject({ code: 'no_logo' })
  })

  it('refuses what it cannot show, and changes nothing', async () => {
    await put({ name: 'Northlight' })
    const svg = Buffer.from('<svg/>').toString('base64')
    for (const [body, error] of [
      [{}, 'Send at least one of name, color, reply_to, logo'],
      [{ name: '  ' }, 'name: must have visible characters, and no line breaks'],
      [{ name: 'a\nb' }, 'name: must have visible characters, and no line breaks'],
      [{ name: 'help@bank.example' }, 'name: must not contain @, <, > or characters that reverse text'],
      [{ name: 'Bank <b' }, 'name: must not contain @, <, > or characters that reverse text'],
      [{ name: 'Bank \u202egro' }, 'name: must not contain @, <, > or characters that reverse text'],
      [{ color: 'red' }, expect.stringContaining('color')],
      [{ reply_to: 'nobody' }, 'reply_to: must be a valid email'],
      [{ logo: svg }, 'logo: must be a PNG, JPEG, or WebP picture'],
      [{ logo: 'data:image/png;base64,' }, 'logo: must be Base64'],
      [{ logo: pngOf(1, 1, MOST_LOGO_BYTES) }, expect.stringContaining('logo')],
      [{ logo: pngOf(4001, 1) }, 'logo: must be at most 4000 pixels wide and high'],
    ] as const) {
      const { status, body: answer } = await put({
        ...body,
        ...('name' in body ? {} : Object.keys(body).length > 0 && { name: 'Other' }),
      })
      expect([status, answer.errors], JSON.stringify(body).slice(0, 100)).toEqual([400, [error]])
    }
    expect(await get()).toEqual({ ...nothing, name: 'Northlight' })
  })

  it('belongs to one account', async () => {
    await put({ name: 'Northlight' })
    const other = await api.person('other@example.com')
    expect((await other.call('GET', '/v1/account/branding')).body.data).toEqual(nothing)
  })

  describe('in the control panel', () => {
    let client: Person
    let operator: Person
    beforeEach(async () => {
      // The first account, which the test above has created, is the operator.
      operator = owner
      owner = await api.person('agency@example.com')
      client = await api.person('client@example.com')
      await put({ name: 'Northlight', color: '#0f766e', logo: pngOf(300, 80), reply_to: 'hello@example.com' })
    })
    const seenBy = async (who: Person) => (await who.browse('GET', '/v1/session')).body.data.brand
    const logoOf = async (who: Person) => (await who.browse('GET', '/v1/session/brand/logo')).status
    const brand = {
      ...{ name: 'Northlight', color: '#0f766e' },
      logo: { location: expect.stringMatching(/^\/v1\/session\/brand\/logo\?version=\d+$/), width: 300, height: 80 },
    }

    it('is that of the own account, and nothing without one', async () => {
      expect([await seenBy(owner), await logoOf(owner)]).toEqual([brand, 200])
      expect([await seenBy(client), await logoOf(client)]).toEqual([null, 404])
      await put({ name: null, color: null, logo: null })
      // A reply address alone shows nothing.
      expect([await seenBy(owner), await logoOf(owner)]).toEqual([null, 404])
    })

    it('is that of the only account on whose sites a client works, and says nothing else of it', async () => {
      const site = await api.site(owner, 'shop')
      await api.collaborate(client, site, [])
      expect(await seenBy(client)).toEqual(brand)
      const logo = await client.browse('GET', (await seenBy(client)).logo.location)
      expect([logo.status, logo.headers['content-type']]).toEqual([200, 'image/png'])
      expect(logo.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache' })
      const etag = String(logo.headers.etag)
      const headers = { ...ofBrowser(client.sessionToken), 'if-none-match': etag }
      const known = await api.app.inject({ url: '/v1/session/brand/logo', headers })
      expect([known.statusCode, known.headers['content-type'], known.body]).toEqual([304, undefined, ''])
      // Its own branding stays its own.
      expect((await client.call('GET', '/v1/account/branding')).body.data).toEqual(nothing)
      expect((await client.call('GET', '/v1/account/branding/logo')).status).toBe(404)
      await api.site(owner, 'blog')
      expect(await seenBy(client)).toEqual(brand)
      await client.call('PUT', '/v1/account/branding', { color: '#123456' })
      expect(await seenBy(client)).toMatchObject({ color: '#123456', logo: null })
    })

    it.each<[string, () => Promise<unknown>]>([
      ['with a site of their own', () => api.site(client, 'own')],
      [
        'who also work for another account',
        async () => {
          const other = await api.person('other@example.com')
          await api.collaborate(client, await api.site(other, 'theirs'), [])
        },
      ],
      ['of a suspended account', () => api.database.transaction((tx) => setSuspended(tx, owner.accountId, 1))],
    ])('is not for people %s', async (_who, prepare) => {
      await api.collaborate(client, await api.site(owner, 'shop'), [])
      expect(await seenBy(client)).not.toBeNull()
      await prepare()
      expect([await seenBy(client), await logoOf(client)]).toEqual([null, 404])
    })

    it('is not for the operator, and ends with the access', async () => {
      const site = await api.site(owner, 'shop')
      await api.collaborate(operator, site, [])
      expect(await seenBy(operator)).toBeNull()
      const id = await api.collaborate(client, site, [])
      expect(await seenBy(client)).not.toBeNull()
      expect((await owner.call('DELETE', `/v1/sites/${site}/collaborators/${id}`)).status).toBe(200)
      expect(await seenBy(client)).toBeNull()
    })

    it('has the name of the account without another one', async () => {
      await put({ name: null })
      expect((await seenBy(owner)).name).not.toBe('')
    })
  })

  describe('in mails', () => {
    let client: Person
    let site: number
    beforeEach(async () => {
      client = await api.person('client@example.com')
      site = await api.site(owner, 'shop')
      await put({ name: 'Northlight', color: '#ffff00', reply_to: 'hello@example.com' })
    })
    const inputs = async (type: string) => {
      const rows = api.database.read.selectFrom('operations').select('input').where('type', '=', type).orderBy('id')
      return (await rows.execute()).map(({ input }) => JSON.parse(input))
    }
    const invite = async (email: string) =>
      expect((await owner.call('POST', `/v1/sites/${site}/collaborators`, { email, roles: [] })).status).toBe(200)

    it('stands at the head of an invitation, with a readable color', async () => {
      await invite('new@example.com')
      const look = { name: 'Northlight', color: readableOnWhite('#ffff00'), replyTo: 'hello@example.com' }
      expect(await inputs('password.mail_link')).toMatchObject([{ kind: 'invitation', brand: look }])
      await invite(client.email)
      const [notice] = await inputs('mail.send')
      expect(notice).toMatchObject({ to: client.email, senderName: 'Northlight', replyTo: 'hello@example.com' })
      expect(notice.html).toContain(`color:${readableOnWhite('#ffff00')}">Northlight</p>`)
    })

    it('is absent from mails of accounts without one', async () => {
      await put({ name: null, color: null })
      await invite('new@example.com')
      await invite(client.email)
      expect((await inputs('password.mail_link'))[0]).not.toHaveProperty('brand')
      expect((await inputs('mail.send'))[0]).not.toHaveProperty('senderName')
    })

    it('is on no mail to the owner, about sites of several accounts, or about none', async () => {
      const { read } = api.database
      const other = await api.site(client, 'theirs')
      const named = async (siteIds: number[], toId = 0) => (await brandOfMail(read, { siteIds, toId }))?.name
      expect(await named([site])).toBe('Northlight')
      expect(await named([site], owner.accountId)).toBeUndefined()
      expect(await named([site, other])).toBeUndefined()
      expect(await named([])).toBeUndefined()
      // Databases limit the values of a statement.
      const many = Array.from({ length: 1200 }, (_, n) => 100_000 + n)
      expect([await named([site, ...many]), await named([site, ...many, other])]).toEqual(['Northlight', undefined])
    })
  })
})
