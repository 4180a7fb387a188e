import { walkJobs } from './walk-jobs.ts'

walkJobs(3)
