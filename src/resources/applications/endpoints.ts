import { createApplication } from './create-application.ts'
import { listApplications } from './list-applications.ts'
import { revokeApplication } from './revoke-application.ts'

export const endpoints = [listApplications, createApplication, revokeApplication]
