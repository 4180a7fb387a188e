import type { Pattern } from './pattern.ts'

/** The methods that a directive applies to. Undefined means all. */
export interface Methods {
  readonly names: ReadonlySet<string>
  /** Whether it applies to all methods except these. */
  readonly except: boolean
}

/** Tests whether an address is in one of several ranges. */
export type AddressTest = (address: string) => boolean

/** A requirement of `Require` (mod_authz_core). */
export type Requirement =
  | { readonly kind: 'all'; readonly granted: boolean }
  | { readonly kind: 'address'; readonly test: AddressTest }
  | { readonly kind: 'method'; readonly names: readonly string[] }
  | { readonly kind: 'env'; readonly names: readonly string[] }
  | { readonly kind: 'validUser' }
  | { readonly kind: 'user'; readonly names: readonly string[] }
  /** Not understood. No visitor meets it, even if it is negated. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'every' | 'some' | 'none'; readonly parts: readonly LimitedRequirement[] }

export interface LimitedRequirement {
  readonly requirement: Requirement
  readonly negated: boolean
  readonly methods: Methods | undefined
}

/** The visitors that `Allow from` or `Deny from` applies to (mod_access_compat). */
export interface From {
  readonly who:
    | { readonly kind: 'all' }
    | { readonly kind: 'env'; readonly name: string; readonly negated: boolean }
    | { readonly kind: 'address'; readonly test: AddressTest }
  readonly methods: Methods | undefined
}

export interface Compat {
  readonly order: {
    readonly value: 'allow,deny' | 'deny,allow' | 'mutual-failure'
    readonly methods: Methods | undefined
  }[]
  readonly allow: From[]
  readonly deny: From[]
}

export interface HeaderEdit {
  readonly always: boolean
  readonly action: 'set' | 'append' | 'merge' | 'add' | 'unset' | 'setifempty'
  readonly name: string
  readonly value: string
  /** Applies only if this is set. */
  readonly env: { readonly name: string; readonly negated: boolean } | undefined
}

/** The time at which an answer becomes stale: relative to the request, or to the last change of its file. */
export interface Expiry {
  readonly seconds: number
  readonly since: 'access' | 'modification'
}

/** The rules for a folder, or for files of a name. Undefined values change nothing. */
export interface Section {
  require: LimitedRequirement[] | undefined
  compat: Compat | undefined
  satisfy: { readonly value: 'any' | 'all'; readonly methods: Methods | undefined }[]
  /** No visitor gets access. */
  isClosed: boolean
  /** A line is not understood. Unless everyone has access, no visitor gets it. */
  isDoubtful: boolean
  authType: string | undefined
  authName: string | undefined
  userFile: string | undefined
  readonly headers: HeaderEdit[]
  forcedType: string | undefined
  readonly types: Map<string, string>
  expiresActive: boolean | undefined
  expiresDefault: Expiry | undefined
  /** By media type, or by its first half and a star. */
  readonly expiresTypes: Map<string, Expiry>
  index: readonly string[] | undefined
  /** The content to show for a status. */
  readonly errors: Map<number, string>
  listings: boolean | undefined
  slash: boolean | undefined
  /** PHP must not run. */
  withoutPhp: boolean | undefined
}

export interface FileSection {
  readonly name:
    | { readonly kind: 'name'; readonly text: string }
    | { readonly kind: 'pattern'; readonly pattern: Pattern }
  readonly section: Section
}

export interface SetEnv {
  /** A header in lower case, or one of Apache's keywords. */
  readonly attribute: string
  readonly pattern: Pattern | undefined
  readonly names: readonly { readonly name: string; readonly value: string | undefined }[]
}

export interface Redirect {
  readonly status: number
  readonly path: string | undefined
  readonly pattern: Pattern | undefined
  readonly to: string
}

export type Condition =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'file'; readonly test: 'f' | 'd' | 's' | 'never' }
  | { readonly kind: 'text'; readonly operator: '=' | '<' | '>' | '<=' | '>='; readonly text: string }
  | { readonly kind: 'number'; readonly operator: string; readonly text: string }

export interface RewriteCondition {
  readonly subject: string
  readonly condition: Condition
  readonly negated: boolean
  readonly or: boolean
  readonly ignoresCase: boolean
}

export interface RewriteRule {
  readonly kind: 'rule'
  readonly conditions: readonly RewriteCondition[]
  readonly pattern: Pattern
  readonly negated: boolean
  /** `undefined` keeps the address. */
  readonly to: string | undefined
  readonly redirect: number | undefined
  readonly forbidden: boolean
  readonly gone: boolean
  readonly last: boolean
  readonly end: boolean
  readonly next: boolean
  readonly chained: boolean
  readonly skip: number
  readonly appendQuery: boolean
  readonly dropQuery: boolean
  readonly unescaped: boolean
  readonly escapesReferences: boolean
  readonly type: string | undefined
  readonly env: readonly string[]
}

/** WordPress' own block: existing files are served, and WordPress answers the rest. */
export type RewriteStep = RewriteRule | { readonly kind: 'wordpress' }

export interface Rewriting {
  isOn: boolean | undefined
  base: string | undefined
  readonly steps: RewriteStep[]
}

/** A line that is not understood. */
export interface NotUnderstood {
  readonly line: number
  readonly what: string
}

/** The rules of one `.htaccess`. */
export interface Rules {
  readonly folder: Section
  readonly files: readonly FileSection[]
  readonly env: readonly SetEnv[]
  readonly redirects: readonly Redirect[]
  /** Undefined if it does not mention rewriting. Then the rules of a folder above apply. */
  readonly rewriting: Rewriting | undefined
  readonly notUnderstood: readonly NotUnderstood[]
  /** Whether it contains only WordPress' own block, which has no effect. */
  readonly isUsual: boolean
  /** The approximate memory it takes. */
  readonly bytes: number
}

export const newSection = (): Section => ({
  require: undefined,
  compat: undefined,
  satisfy: [],
  isClosed: false,
  isDoubtful: false,
  authType: undefined,
  authName: undefined,
  userFile: undefined,
  headers: [],
  forcedType: undefined,
  types: new Map(),
  expiresActive: undefined,
  expiresDefault: undefined,
  expiresTypes: new Map(),
  index: undefined,
  errors: new Map(),
  listings: undefined,
  slash: undefined,
  withoutPhp: undefined,
})

export const holdsFor = (methods: Methods | undefined, method: string): boolean =>
  !methods || methods.names.has(method === 'HEAD' ? 'GET' : method) !== methods.except
