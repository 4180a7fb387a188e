import { activity } from './activity.ts'
import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { disk } from './disk.ts'
import { log } from './log.ts'
import { operations } from './operations.ts'
import { replays } from './replays.ts'
import { schedules } from './schedules.ts'

export const checks: readonly Check[] = [replays, operations, schedules, activity, disk, answers, log]
