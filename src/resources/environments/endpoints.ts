import { createEnvironment } from './create-environment.ts'
import { getEnvironmentPreview } from './get-environment-preview.ts'
import { listAllEnvironments } from './list-all-environments.ts'
import { listEnvironments } from './list-environments.ts'
import { pullEnvironment } from './pull-environment.ts'
import { pushEnvironment } from './push-environment.ts'
import { unlinkEnvironment } from './unlink-environment.ts'

/** In the order of the API description. All are additions. */
export const endpoints = [
  listEnvironments,
  createEnvironment,
  unlinkEnvironment,
  pushEnvironment,
  pullEnvironment,
  getEnvironmentPreview,
  listAllEnvironments,
]
