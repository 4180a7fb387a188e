import { version } from '../version.ts'
import type { Call } from './command.ts'

/** Runs `stead version`. */
export async function print({ flags }: Call): Promise<void> {
  console.log(flags.json ? JSON.stringify({ version, node: process.versions.node }) : version)
}
