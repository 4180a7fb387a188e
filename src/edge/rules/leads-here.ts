import type { Rule } from '../visit.ts'

/** Where Stead asks whether a name leads here, whatever stands before it; no site has what is below it. */
export const HERE = '/.well-known/stead/here/'

const NONCE = /^[\w-]{8,64}$/

/** What the answer is a mark of: only this installation can make it, for this name and this one question. */
export const hereText = (hostName: string, nonce: string): string => `${hostName} ${nonce}`

/** Answers Stead's own question whether a name leads here. @param mark makes what nobody else can */
export function createLeadsHere(mark: (text: string) => string): Rule {
  return ({ target, hostName, method }) => {
    if (!target.startsWith(HERE) || method !== 'GET') return undefined
    const nonce = target.slice(HERE.length)
    if (!NONCE.test(nonce)) return undefined
    return {
      status: 200,
      headers: ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store'],
      body: Buffer.from(mark(hereText(hostName, nonce))),
    }
  }
}

/** What marks are made for. */
export const HERE_PURPOSE = 'name leads here'
