/** A site's domain in real WordPress: added, made primary, and removed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser, type VisitOptions } from '../support/visit.ts'

const core = await testCore()

describe.skipIf(!core)('domains', () => {
  let stead: Stead
  let id: number
  let staging: string
  let apex: number
  let www: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
    id = await stead.createSite({ name: 'domains' })
    staging = `domains.localhost:${stead.edgePort}`
  })
  afterAll(() => stead?.remove())

  const at = (hostName: string) => `${hostName}:${stead.edgePort}`
  const open = (hostName: string, path = '/', options: VisitOptions = {}) => stead.visit(hostName, path, options)
  const ended = async (headers: Headers) => {
    const operation = await stead.ended(headers.get('operation-id') as string)
    expect(operation).toMatchObject({ state: 'succeeded' })
  }
  const urlOf = async () => (await stead.api('GET', `/v1/sites/${id}`)).body.data.url

  test('serves the site at an added domain, and leaves its links unchanged', async () => {
    expect((await open('www.example.test')).status).toBe(404)
    const added = await stead.api('POST', `/v1/sites/${id}/domains`, { name: 'example.test' })
    expect(added.status).toBe(201)
    const [first, second] = added.body.data as { id: number }[]
    apex = first?.id as number
    www = second?.id as number
    const page = await until('the edge knows the name', async () => {
      const answer = await open('www.example.test', '/wp-login.php')
      return answer.status !== 404 && answer
    })
    expect(page.status).toBe(200)
    expect((await open('www.example.test', '/hello-world/')).text).toContain(staging)
    expect(await urlOf()).toBe(staging)
  })

  test('uses the primary domain for links, media, and log-ins, and redirects the other domains to it', async () => {
    const body = { html: `<a href="http://${staging}/sample-page/">there</a>` }
    const browser = new Browser((path, options) => stead.visit('domains', path, options))
    const password = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body.data
    await browser.logIn('admin', password)
    const nonce = (await browser.open('/wp-admin/admin-ajax.php?action=rest-nonce')).text
    const post = await browser.open('/wp-json/wp/v2/posts', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-wp-nonce': nonce },
      body: JSON.stringify({ title: 'With a link', slug: 'with-a-link', status: 'publish', content: body.html }),
    })
    expect(post.status, post.text).toBe(201)

    const { status, headers, body: answer } = await stead.api('PUT', `/v1/sites/${id}/domains/${www}/primary`)
    expect([status, answer.data.primary]).toEqual([200, true])
    await ended(headers)
    expect(await urlOf()).toBe(at('www.example.test'))
    const page = await until('the page is the domain’s', async () => {
      const found = await open('www.example.test', '/with-a-link/')
      return found.status === 200 && found
    })
    expect(page.text).toContain(`href="http://${at('www.example.test')}/sample-page/"`)
    expect(page.text).not.toContain(staging)
    const other = await until('the other domain leads there', async () => {
      const found = await open('example.test', '/with-a-link/?a=b')
      return found.status === 301 && found
    })
    expect(other.headers.location).toBe(`http://${at('www.example.test')}/with-a-link/?a=b`)
    const there = new Browser((path, options) => open('www.example.test', path, options))
    expect((await there.logIn('admin', password)).text).toContain('wpadminbar')
  })

  test('finds nothing to repair at a restart', async () => {
    await stead.restart()
    expect((await open('www.example.test', '/with-a-link/')).status).toBe(200)
    const asked = await stead.api('GET', `/v1/operations?site_id=${id}`)
    const configured = asked.body.data.filter(({ type }: { type: string }) => type === 'site.configure')
    expect(configured).toHaveLength(1)
  })

  test('returns the site to its first address when the domain is removed, and no longer answers the name', async () => {
    const { headers } = await stead.api('DELETE', `/v1/sites/${id}/domains/${www}`)
    await ended(headers)
    expect(await urlOf()).toBe(staging)
    const page = await until('the first address has the page', async () => {
      const found = await open('domains.localhost', '/with-a-link/')
      return found.status === 200 && found
    })
    expect(page.text).not.toContain('example.test')
    await until('the name is gone', async () => (await open('www.example.test')).status === 404)
    expect(
      (await stead.api('GET', `/v1/sites/${id}/domains`)).body.data.map((each: { id: number }) => each.id),
    ).toEqual([apex])
  })
})
