import {
  AuthorityKeyIdentifierExtension,
  type BasicConstraintsExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { describe, expect, test } from 'vitest'
import { AuthorityAway, beginOrder, until } from './authority.ts'
import { idOfCertificate, usualRenewal, withinWindow } from './renewal.ts'

const NOW = Date.parse('2026-11-23T00:00:00Z')

describe('the time of renewal', () => {
  test('leaves a third of the lifetime, be it 90 days, 6, or one', () => {
    const day = 86_400_000
    expect(usualRenewal({ from: 0, until: 90 * day })).toBe(60 * day)
    expect(usualRenewal({ from: 0, until: 6 * day })).toBe(4 * day)
    expect(usualRenewal({ from: 0, until: day })).toBe((2 * day) / 3)
  })

  test('is in the authority’s window, if that is valid', () => {
    const window = { start: '2026-11-23T00:00:00Z', end: '2026-11-25T00:00:00Z' }
    expect(withinWindow({ suggestedWindow: window }, 0.5)).toBe(NOW + 86_400_000)
    expect(withinWindow({ suggestedWindow: { start: window.end, end: window.start } }, 0.5)).toBeUndefined()
    expect(withinWindow({ suggestedWindow: { start: 'soon', end: window.end } }, 0.5)).toBeUndefined()
    expect(withinWindow({}, 0.5)).toBeUndefined()
  })

  test('uses an id of issuer and serial number, as in RFC 9773 §4.1', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const make = async (extensions: (AuthorityKeyIdentifierExtension | BasicConstraintsExtension)[]) => {
      const options = { serialNumber: '0087654321', name: 'CN=a', keys, signingAlgorithm: algorithm, extensions }
      return (await X509CertificateGenerator.createSelfSigned(options)).toString('pem')
    }
    const issuer = new AuthorityKeyIdentifierExtension('69885b6b87464041e1b37b847bd0ae2cde01c8d4')
    expect(idOfCertificate(await make([issuer]))).toBe('aYhba4dGQEHhs3uEe9CuLN4ByNQ.AIdlQyE')
    expect(idOfCertificate(await make([]))).toBeUndefined()
  })
})

describe('polling the authority', () => {
  test('ends as soon as it has decided', async () => {
    const answers = ['pending', 'pending', 'valid', 'never asked']
    const decided = await until(
      async () => answers.shift(),
      (answer) => answer !== 'pending',
      new AbortController().signal,
    )
    expect([decided, answers]).toEqual(['valid', ['never asked']])
  })

  test('ends when it is aborted', async () => {
    const ending = new AbortController()
    const waiting = until(
      async () => ending.abort(),
      () => false,
      ending.signal,
    )
    await expect(waiting).rejects.toThrow(/abort/i)
  })
})

describe('an order that replaces a certificate', () => {
  const identifiers = [{ type: 'dns', value: 'a.test' }]
  const begin = async (replaced: string | undefined, refuse?: (asked: object) => Error | undefined) => {
    const asked: object[] = []
    const createOrder = async (wanted: object) => {
      asked.push(wanted)
      const refusal = refuse?.(wanted)
      if (refusal) throw refusal
      return { url: 'order' } as never
    }
    const outcome = await beginOrder({ createOrder }, 'a.test', replaced).then(({ url }) => url, String)
    return { asked, outcome }
  }

  test('names the certificate, and omits it if the authority refuses', async () => {
    expect(await begin(undefined)).toEqual({ asked: [{ identifiers }], outcome: 'order' })
    expect(await begin('a.b')).toEqual({ asked: [{ identifiers, replaces: 'a.b' }], outcome: 'order' })
    const unknown = await begin('a.b', (wanted) => ('replaces' in wanted ? new Error('malformed') : undefined))
    expect(unknown).toEqual({ asked: [{ identifiers, replaces: 'a.b' }, { identifiers }], outcome: 'order' })
  })

  test('is not repeated when the authority is unreachable', async () => {
    const { asked, outcome } = await begin('a.b', () => new AuthorityAway('no answer'))
    expect([asked.length, outcome]).toEqual([
      1,
      'AuthorityAway: Stead cannot reach the certificate authority: no answer',
    ])
  })
})
