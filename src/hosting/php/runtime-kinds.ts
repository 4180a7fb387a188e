import type { DatabaseKind } from '../site-database/database-kind.ts'

/** The ways to run PHP, with the kind of database that a site has there. */
export const runtimeKinds = {
  native: { label: 'native PHP', database: 'mariadb', reachesServers: true },
  wasm: { label: 'PHP in WebAssembly', database: 'sqlite', reachesServers: false },
} as const satisfies Record<
  string,
  { readonly label: string; readonly database: DatabaseKind; readonly reachesServers: boolean }
>
export type RuntimeKind = keyof typeof runtimeKinds
export const runtimeNames = Object.keys(runtimeKinds) as RuntimeKind[]

/** Returns whether PHP of a kind can use a database on a server. An unknown kind can. */
export const reachesServers = (kind: string | undefined): boolean =>
  kind === undefined || !(kind in runtimeKinds) || runtimeKinds[kind as RuntimeKind].reachesServers
