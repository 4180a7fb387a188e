/** Mails of real WordPress, sent through a real mail server. */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { mailServer, type Received } from '../support/mail-server.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const LIMIT = 12
/** Larger than several of the chunks that PHP hands over. */
const attached = randomBytes(700_001)

const PROGRAM = `<?php
require __DIR__ . '/wp-load.php';
add_action('wp_mail_failed', static function ($error) { $GLOBALS['failure'] = $error->get_error_message(); });
$given = json_decode(file_get_contents('php://input'), true);
if (!empty($given['sendmail'])) {
    add_action('phpmailer_init', static fn ($mailer) => $mailer->isSendmail());
}
$send = $given['send'] ?? 'wp_mail';
$results = [];
for ($count = $given['times'] ?? 1; $count > 0; $count--) {
    $results[] = $send(...$given['arguments']);
}
echo json_encode(['results' => $results, 'failure' => $GLOBALS['failure'] ?? null]);
`

describeSites('mails of a site', ({ env, testOnce }) => {
  let stead: Stead
  let server: Awaited<ReturnType<typeof mailServer>>
  let id: number
  /** What the mail server waits for before it accepts a mail. */
  let beforeYes: () => Promise<void> = async () => {}
  let asked = 0
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    server = await mailServer({
      onMailFrom(_address, _session, done) {
        asked++
        beforeYes().then(() => done())
      },
      onRcptTo({ address }, _session, done) {
        if (!address.startsWith('nobody@')) return done()
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
      },
    })
    stead = await startStead({
      env: { ...env, STEAD_SMTP_URL: `smtp://127.0.0.1:${server.port}`, STEAD_SITE_MAILS_PER_HOUR: String(LIMIT) },
    })
    id = await newSite('letters')
  })
  afterAll(async () => {
    await stead?.remove()
    await server?.close()
  })

  const newSite = async (name: string) => {
    const siteId = await stead.createSite({ name })
    await writeFile(join(stead.directoryOf(name), 'web/mails.php'), PROGRAM)
    await writeFile(join(stead.directoryOf(name), 'web/attached.bin'), attached)
    return siteId
  }
  const send = async (site: string, given: object): Promise<{ results: boolean[]; failure: string | null }> => {
    const page = await stead.visit(site, '/mails.php', { method: 'POST', body: JSON.stringify(given) })
    expect([page.status, page.text]).toEqual([200, expect.stringMatching(/^\{/)])
    return JSON.parse(page.text)
  }
  const received = (subject: string): Promise<Received> =>
    until(`the mail ${subject}`, () => server.received.find(({ email }) => email.subject === subject))
  const phpLog = async (siteId: number): Promise<string[]> => {
    const { body } = await stead.api('GET', `/v1/sites/${siteId}/logs/php?order=desc`)
    return JSON.stringify(body).match(/mail\(\)[^"\\]*/g) ?? []
  }

  testOnce('mails a link for a lost password, which sets a new one', async () => {
    const browser = new Browser((path, options) => stead.visit('letters', path, options))
    await browser.open('/wp-login.php?action=lostpassword', {
      method: 'POST',
      body: new URLSearchParams({ user_login: 'admin' }),
    })
    const { email, from } = await until('the mail', () => server.received.find(({ raw }) => raw.includes('action=rp')))
    expect(from).toBe('wordpress@letters.localhost')
    expect(email.from).toMatchObject({ name: 'WordPress', address: 'wordpress@letters.localhost' })
    const link = new URL(/http\S+action=rp\S*/.exec(email.text ?? '')?.[0] as string)
    const form = await browser.open(link.pathname + link.search)
    const key = /name="rp_key" value="([^"]+)"/.exec(form.text)?.[1] as string
    const password = 'a new, rather long pass phrase 7!'
    const changed = await browser.open('/wp-login.php?action=resetpass', {
      method: 'POST',
      body: new URLSearchParams({ rp_key: key, pass1: password, pass2: password }),
    })
    expect(changed.text).toContain('Your password has been reset')
    const form2 = { log: 'admin', pwd: password, testcookie: '1' }
    const headers = { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' }
    const login = await stead.visit('letters', '/wp-login.php', {
      method: 'POST',
      body: new URLSearchParams(form2),
      headers,
    })
    expect(login.status).toBe(302)
  })

  test.each([
    ['mail()', false],
    ['sendmail', true],
  ])('delivers text, names, and files unchanged by %s, and hides Bcc recipients', async (how, sendmail) => {
    const subject = `Grüße – 今日は, ${'sehr '.repeat(20)}lang: ${how}`
    const headers = ['Content-Type: text/html; charset=UTF-8', 'Cc: Käthe <cc@example.com>', 'Bcc: secret@example.com']
    const sent = [...headers, 'From: Der Laden <shop@elsewhere.example>']
    const given = ['Zoë <to@example.com>', subject, '<p>Schöne Grüße\n.\n今日は</p>', sent, '/wordpress/attached.bin']
    expect(await send('letters', { arguments: given, sendmail })).toEqual({ results: [true], failure: null })
    const { email, raw, recipients, from } = await received(subject)
    expect(recipients.toSorted()).toEqual(['cc@example.com', 'secret@example.com', 'to@example.com'])
    expect(raw).not.toContain('secret@example.com')
    expect(email).toMatchObject({
      to: [{ name: 'Zoë', address: 'to@example.com' }],
      cc: [{ name: 'Käthe', address: 'cc@example.com' }],
      from: { name: 'Der Laden', address: 'wordpress@letters.localhost' },
      replyTo: [{ name: 'Der Laden', address: 'shop@elsewhere.example' }],
    })
    expect(from).toBe('wordpress@letters.localhost')
    expect(email.html?.trim()).toBe('<p>Schöne Grüße\n.\n今日は</p>')
    const [file] = email.attachments
    expect(Buffer.from(file?.content as ArrayBuffer).equals(attached)).toBe(true)
    expect(email.headers).toContainEqual(expect.objectContaining({ key: 'x-stead-site', value: String(id) }))
  })

  test('lets a line break add neither a header nor a recipient', async () => {
    const before = server.received.length
    for (const given of [
      ['a@example.com', 'Hello\r\nBcc: victim@example.com', 'text'],
      ['a@example.com\nBcc: victim@example.com', 'Hello', 'text'],
      ['a@example.com', 'Hello', 'text', 'X-One: 1\r\n\r\nanother text'],
    ])
      expect((await send('letters', { send: 'mail', arguments: given })).results).toEqual([false])
    expect(server.received.length).toBe(before)
    await until('the log says so', async () => (await phpLog(id)).some((line) => line.includes('line break')))
  })

  testOnce('logs an unknown mailbox for the site, and delivers to the others', async () => {
    const given = { arguments: [['nobody@example.com', 'some@example.com'], 'To two', 'text'] }
    expect((await send('letters', given)).results).toEqual([true])
    expect((await received('To two')).recipients).toEqual(['some@example.com'])
    await until('the log says so', async () =>
      (await phpLog(id)).some((line) => line.includes('nobody@example.com failed') && line.includes('no such mailbox')),
    )
  })

  testOnce('delivers an accepted mail even if the host is killed before it is sent', async () => {
    let isKilled = false
    beforeYes = () => (isKilled ? Promise.resolve() : new Promise(() => {}))
    const before = asked
    expect((await send('letters', { arguments: ['to@example.com', 'Through a crash', 'text'] })).results).toEqual([
      true,
    ])
    await until('it is on its way', () => asked > before)
    isKilled = true
    stead.kill('host')
    expect((await received('Through a crash')).recipients).toEqual(['to@example.com'])
    await until('nothing is left', async () => (await readdir(join(stead.dataDir, 'mail-queue'))).length === 0)
  })

  testOnce('limits the mails of a site per hour, tells it once, and other sites keep sending', async () => {
    const noisy = await newSite('noisy')
    const given = { times: LIMIT + 8, arguments: ['to@example.com', 'Noise', 'text'] }
    const { results } = await send('noisy', given)
    expect(results.filter(Boolean)).toHaveLength(LIMIT)
    expect(results.slice(LIMIT)).toEqual(Array.from({ length: 8 }, () => false))
    const told = await until('the log says so', async () => {
      const lines = await phpLog(noisy)
      return lines.length > 0 && lines
    })
    expect(told).toEqual([expect.stringContaining('STEAD_SITE_MAILS_PER_HOUR')])
    expect((await send('letters', { arguments: ['to@example.com', 'From another', 'text'] })).results).toEqual([true])
    await received('From another')
  })

  testOnce('writes the mails of a site that is not in production to files', async () => {
    const staging = await newSite('copy')
    const { status } = await stead.api('PUT', `/v1/sites/${staging}`, { wp_environment_type: 'staging' })
    expect(status).toBe(200)
    expect((await send('copy', { arguments: ['to@example.com', 'Only kept', 'text'] })).results).toEqual([true])
    const folder = join(stead.dataDir, 'outbox', String(staging))
    const [name] = await until('the file', async () => {
      const names = await readdir(folder).catch(() => [])
      return names.length > 0 && names.every((each) => each.endsWith('.eml')) && names
    })
    expect(await PostalMime.parse(await readFile(join(folder, name as string)))).toMatchObject({ subject: 'Only kept' })
    expect(server.received.filter(({ email }) => email.subject === 'Only kept')).toEqual([])
  })
})
