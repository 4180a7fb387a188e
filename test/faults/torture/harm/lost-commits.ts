import type { Harm } from './harm.ts'

const noPostgres = 'on PostgreSQL only'

/** The server commits, and its answer does not arrive. */
export const loseCommits: Harm = {
  name: 'answers to COMMIT lost',
  share: 14,
  kills: 0,
  missing: ({ proxy }) => (proxy ? undefined : noPostgres),
  async run({ cuts }, chance) {
    cuts.left = Math.ceil(chance.between(0, 3))
  },
}

/** All connections to the database break, or the server itself dies or is restarted. */
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
