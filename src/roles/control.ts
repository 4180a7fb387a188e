import { createApp } from '../app.ts'
import { hostReports } from '../hosting/host.store.ts'
import { writeFileDurably } from '../platform/files/write-file.ts'
import { forgetOldKeys } from '../platform/http/idempotency.ts'
import { createApiMetrics } from '../platform/http/metrics.ts'
import { makeFirstAccount } from '../resources/account/account.ts'
import { forgetExpiredTokens } from '../resources/authentication/token.store.ts'
import { version } from '../version.ts'
import { type Credentials, credentialsFile, readCredentials } from './credentials.ts'
import type { Ground, Part } from './part.ts'

/** A host that has not been heard of for so long does not count. */
const HOST_SILENT_MS = 10_000
const TIDY_EVERY_MS = 3600_000

/** What the supervisor knows of the other parts: name → running. */
export type PartStates = Readonly<Record<string, boolean>>

export interface Control extends Part {
  /** http address of the API. */
  readonly url: string
}

/** The API and the work that needs no site files. @param parts says how the other parts of this machine are */
export async function startControl(ground: Ground, parts: () => PartStates = () => ({})): Promise<Control> {
  const { config, database, log, sealer } = ground
  const metrics = createApiMetrics()
  const readiness = async () => {
    const now = Date.now()
    const hosts = (await hostReports(database.read)).filter(({ seenAt }) => seenAt > now - HOST_SILENT_MS)
    const settled = hosts.length > 0 && hosts.every(({ facts }) => facts.preparing === false)
    const ready = settled && Object.values(parts()).every(Boolean)
    return {
      ready,
      details: {
        database: database.dialect,
        parts: parts(),
        hosts: hosts.map(({ name, facts }) => ({ name, ...facts })),
      },
    }
  }
  const app = await createApp({ config, database, sealer, log, metrics, version, readiness })
  const url = await app.listen(config.apiListen)
  await database.transaction(async (tx) => {
    const first = await makeFirstAccount(tx, { email: config.accountEmail, now: Date.now() })
    const known = await readCredentials(config.dataDir)
    const credentials: Partial<Credentials> = {
      ...known,
      ...(first && {
        client_id: first.application.clientId,
        client_secret: first.application.clientSecret,
        account_email: first.account.email,
      }),
      api_url: url,
      edge_url: `http://${config.edgeListen.host}:${config.edgeListen.port}`,
    }
    // before the commit: a secret that nobody could read would leave an account without a key
    if (first || known)
      await writeFileDurably(credentialsFile(config.dataDir), `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
  })
  const tidy = async () => {
    await database.transaction(async (tx) => {
      await forgetExpiredTokens(tx, Date.now())
      await forgetOldKeys(tx, Date.now())
    })
  }
  const tidying = setInterval(() => tidy().catch((error) => log.error({ err: error }, 'tidying failed')), TIDY_EVERY_MS)
  tidying.unref()
  log.info({ url }, 'the API listens')
  return {
    url,
    async stop() {
      clearInterval(tidying)
      await app.close()
    },
  }
}
