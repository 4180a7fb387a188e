import { listVulnerabilities } from './list-vulnerabilities.ts'

/** In the order of the API description. */
export const endpoints = [listVulnerabilities]
