import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenApiDocument } from '../app.ts'
import { apiDescription } from '../app.ts'
import { readConfig } from '../config.ts'
import { openProcessContext } from '../roles/process-context.ts'

/** Runs `stead openapi`: prints the description of the API, which is the same for every installation. */
export async function print(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'stead-openapi-'))
  const context = await openProcessContext(
    readConfig({ STEAD_DATA_DIR: dataDir, STEAD_LOG_LEVEL: 'silent' }),
    'openapi',
  )
  try {
    const document: OpenApiDocument = await apiDescription(context)
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
  } finally {
    await context.database.close()
    await rm(dataDir, { recursive: true })
  }
}
