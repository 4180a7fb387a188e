import type { Rule } from '../visit.ts'

/**
 * The path on which Stead checks whether a name points here, whatever proxies are in between. Sites cannot use paths
 * below it.
 */
export const HERE = '/.well-known/stead/here/'

const NONCE = /^[\w-]{8,64}$/

/**
 * Returns the text that the answer authenticates: only this installation can do so, for this name and this question.
 */
export const hereText = (hostName: string, nonce: string): string => `${hostName} ${nonce}`

/**
 * Answers Stead's own check whether a name points here. @param mark returns an authentication code that nobody else can
 * create
 */
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
