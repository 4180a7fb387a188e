import { version } from '../version.ts'
import type { CommandCall } from './arguments.ts'

/** `stead version` */
export async function run({ flags }: CommandCall): Promise<number> {
  console.log(flags.json ? JSON.stringify({ version, node: process.versions.node }) : version)
  return 0
}
