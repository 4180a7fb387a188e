import { activity } from './activity.ts'
import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { disk } from './disk.ts'
import { log } from './log.ts'
import { operations } from './operations.ts'
import { replays } from './replays.ts'

export const checks: readonly Check[] = [replays, operations, activity, disk, answers, log]
