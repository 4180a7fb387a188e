import type { Harm } from './harm.ts'

const noPostgres = 'on PostgreSQL only'

/** The server commits, but its answer is lost. */
export const loseCommits: Harm = {
  name: 'answers to COMMIT lost',
  share: 14,
  kills: 0,
  missing: ({ proxy }) => (proxy ? undefined : noPostgres),
  async run({ cuts }, chance) {
    cuts.left = Math.ceil(chance.between(0, 3))
  },
}

/** Breaks all connections to the database, or kills or restarts the server. */
export const restartDatabase: Harm = {
  name: 'database restarted',
  share: 3,
  kills: 0,
  missing: ({ cluster }) => (cluster ? undefined : noPostgres),
  async run({ cluster, proxy }, chance) {
    const how = chance.pick(['drop', 'fast', 'immediate'] as const)
    if (how !== 'drop') return cluster?.restart(how)
    if (!proxy) return
    proxy.isDown = true
    proxy.isDown = false
  },
}
