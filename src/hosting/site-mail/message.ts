import { domainToASCII } from 'node:url'
import addressparser from 'nodemailer/lib/addressparser'
import { encodeWords } from 'nodemailer/lib/mime-funcs'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { type Header, MailFault, readHeaders, readValue } from './mail-headers.ts'

/** The arguments of PHP's `mail()`, or the input of `sendmail`. They may contain anything. */
export interface Handover {
  /** The two separate arguments of `mail()`, which become headers. */
  readonly to?: Buffer | undefined
  readonly subject?: Buffer | undefined
  readonly headers: Buffer
  /** Replaces the recipients in the headers. */
  readonly recipients?: readonly string[] | undefined
  /** The address for bounces. */
  readonly sender?: string | undefined
}

/** The site of a mail. */
export interface MailSite {
  readonly siteId: number
  /** Host names that lead to the site, its main one first, without `www.`. */
  readonly names: readonly string[]
}

export interface Envelope {
  readonly from: string
  readonly to: readonly string[]
}

export const MOST_RECIPIENTS = 100

/** Headers that a mail has at most once (RFC 5322 §3.6). The first counts. */
const ONCE = new Set([
  'from',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
])
/** Headers that are written again below, that mail servers add, or that must stay private. */
const DROPPED =
  /^(?:from|to|cc|bcc|reply-to|subject|date|message-id|sender|return-path|received|errors-to|dkim-signature|delivered-to|(?:resent|arc|x-stead)-.*)$/

/**
 * Converts the input of a site to a mail that may be sent. The sender is the site's, no recipient in Bcc is named, and
 * no line break adds a header.
 * @param id globally unique
 * @throws MailFault when the input cannot become a mail
 */
export function readMail(
  given: Handover,
  site: MailSite,
  { id, now }: { id: string; now: number },
): { head: Buffer; envelope: Envelope } {
  const headers = [
    ...(given.to ? [{ name: 'To', value: readValue('to', given.to) }] : []),
    ...(given.subject ? [{ name: 'Subject', value: readValue('subject', given.subject) }] : []),
    ...readHeaders(given.headers),
  ]
  const valuesOf = (name: string) =>
    headers.filter((each) => each.name.toLowerCase() === name).map(({ value }) => value)
  const [to, cc, bcc] = [mailboxesOf(valuesOf('to')), mailboxesOf(valuesOf('cc')), mailboxesOf(valuesOf('bcc'))]
  const recipients = recipientsOf(given.recipients?.map((address) => ({ name: '', address })) ?? [...to, ...cc, ...bcc])
  const { from, replyTo, bounces } = senderOf(site, valuesOf('from')[0], given.sender)
  const replies = mailboxesOf(valuesOf('reply-to'))
  const domain = domainOf(from.address)
  const written = [
    { name: 'Date', value: dateOf(valuesOf('date')[0], now) },
    { name: 'Message-ID', value: messageIdOf(valuesOf('message-id')[0]) ?? `<${id}@${domain}>` },
    { name: 'From', value: shown(from) },
    ...listHeader('Reply-To', replies.length > 0 ? replies : replyTo ? [replyTo] : []),
    ...listHeader('To', to),
    ...listHeader('Cc', cc),
    // A mail needs one of the two headers. Recipients in neither stay unnamed.
    ...(to.length + cc.length === 0 ? [{ name: 'To', value: 'undisclosed-recipients:;' }] : []),
    { name: 'Subject', value: encoded(valuesOf('subject')[0] ?? '') },
    { name: 'X-Stead-Site', value: String(site.siteId) },
    ...others(headers),
  ]
  return {
    head: Buffer.from(`${written.map(folded).join('\r\n')}\r\n\r\n`),
    envelope: { from: bounces, to: recipients },
  }
}

interface Mailbox {
  readonly name: string
  readonly address: string
}

function mailboxesOf(values: readonly string[]): Mailbox[] {
  return values
    .flatMap((value) => addressparser(value, { flatten: true }))
    .filter(({ address, name }) => address || name)
}

function recipientsOf(mailboxes: readonly Mailbox[]): string[] {
  const found = new Set<string>()
  for (const { name, address } of mailboxes) {
    const plain = plainAddress(address)
    if (!plain) throw new MailFault(`${JSON.stringify((address || name).slice(0, 100))} is not an address`)
    found.add(plain)
  }
  if (found.size === 0) throw new MailFault('it has no recipient')
  if (found.size > MOST_RECIPIENTS) throw new MailFault(`it has more than ${MOST_RECIPIENTS} recipients`)
  return [...found]
}

/** Returns the address with its domain in the form of the DNS, or undefined if it is invalid. */
function plainAddress(address: string): string | undefined {
  if (!isOneMailbox(address)) return undefined
  const at = address.lastIndexOf('@')
  const domain = domainToASCII(address.slice(at + 1))
  return domain ? `${address.slice(0, at)}@${domain}` : undefined
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/**
 * Returns a sender among the site's own names. Receivers check in a domain's DNS which servers may send for it (SPF,
 * DMARC), and no site may send as another. A sender elsewhere still gets the replies. Bounces go to the sender.
 */
function senderOf(site: MailSite, given: string | undefined, wanted: string | undefined) {
  const isOwn = (address: string | undefined): address is string =>
    address !== undefined && site.names.includes(domainOf(address).toLowerCase())
  const asked = given === undefined ? undefined : mailboxesOf([given])[0]
  const address = asked && plainAddress(asked.address)
  const own = isOwn(address)
  const from = { name: asked?.name ?? '', address: own ? address : `wordpress@${site.names[0]}` }
  const wish = wanted === undefined ? undefined : plainAddress(wanted)
  return {
    from,
    replyTo: address && !own ? { name: asked?.name ?? '', address } : undefined,
    bounces: isOwn(wish) ? wish : from.address,
  }
}

function dateOf(given: string | undefined, now: number): string {
  const isDate = given !== undefined && /^[\w\s,:+()-]{10,60}$/.test(given) && Number.isFinite(Date.parse(given))
  return isDate ? given : new Date(now).toUTCString().replace('GMT', '+0000')
}

const messageIdOf = (given: string | undefined): string | undefined =>
  given !== undefined && /^<[!-;=?-~]{1,120}@[!-;=?-~]{1,120}>$/.test(given) ? given : undefined

const listHeader = (name: string, mailboxes: readonly Mailbox[]): Header[] => {
  const known = mailboxes.filter(({ address }) => plainAddress(address))
  return known.length > 0 ? [{ name, value: known.map(shown).join(', ') }] : []
}

/** Words that need no quotes, and encoded ones, which have no meaning within quotes. */
const WORD = /^(?:=\?[^?\s]+\?[BQbq]\?[^?\s]*\?=|[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)$/

function shown({ name, address }: Mailbox): string {
  const plain = plainAddress(address) as string
  if (!name) return plain
  if (name.split(' ').every((word) => WORD.test(word))) return `${name} <${plain}>`
  const words = encoded(name)
  return `${words === name ? `"${name.replace(/["\\]/g, '\\$&')}"` : words} <${plain}>`
}

/** Encodes text unless it is ASCII (RFC 2047). */
const encoded = (text: string): string => (/^[ -~]*$/.test(text) ? text : encodeWords(text, 'Q', 52, true))

function others(headers: readonly Header[]): Header[] {
  const seen = new Set<string>()
  const kept = headers.filter(({ name }) => {
    const key = name.toLowerCase()
    const isSecond = ONCE.has(key) && seen.has(key)
    seen.add(key)
    return !DROPPED.test(key) && !isSecond
  })
  if (seen.has('content-type') && !seen.has('mime-version')) kept.unshift({ name: 'MIME-Version', value: '1.0' })
  return kept.map(({ name, value }) => ({ name, value: encoded(value) }))
}

/**
 * Folds lines at 76 characters where there is a space (RFC 5322 §2.1.1).
 * @throws MailFault for a line over 998
 */
function folded({ name, value }: Header): string {
  const lines: string[] = []
  let line = `${name}:`
  for (const word of ` ${value}`.split(/(?<=\S)(?=[ \t])/)) {
    const isFull = line.length + word.length > 76 && line !== `${name}:`
    if (isFull) lines.push(line)
    line = isFull ? word : line + word
  }
  lines.push(line)
  if (lines.some((each) => Buffer.byteLength(each) > 998)) throw new MailFault(`the header ${name} is too long`)
  return lines.join('\r\n')
}
