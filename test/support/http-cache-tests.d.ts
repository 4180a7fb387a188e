/** The parts of the package `http-cache-tests` that tests use. It has no types. */
declare module 'http-cache-tests/tests/index.mjs' {
  const suites: { readonly tests: readonly import('./http-cache-suite.ts').Check[] }[]
  export default suites
}

declare module 'http-cache-tests/client/config.mjs' {
  export function setFetch(fetch: (url: string, init?: import('./http-cache-suite.ts').Init) => Promise<unknown>): void
  export function setBaseUrl(url: string): void
}

declare module 'http-cache-tests/client/test.mjs' {
  /** Modifies its argument. */
  export function makeCacheTest(check: import('./http-cache-suite.ts').Check): Promise<void>
  /** By ID: `true`, or the kind of failure (`Setup`, `Assertion`, the name of an error) and its reason. */
  export const testResults: Record<string, true | readonly [string, string]>
}

declare module 'http-cache-tests/server/utils.mjs' {
  /** Responses of the origin, by the UUID of a test. */
  export const stash: Map<string, { request_num: number }[]>
}

declare module 'http-cache-tests/server/handle-config.mjs' {
  const handle: import('./http-cache-suite.ts').Handle
  export default handle
}

declare module 'http-cache-tests/server/handle-state.mjs' {
  const handle: import('./http-cache-suite.ts').Handle
  export default handle
}

declare module 'http-cache-tests/server/handle-test.mjs' {
  const handle: import('./http-cache-suite.ts').Handle
  export default handle
}
