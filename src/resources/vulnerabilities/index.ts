import { resource } from '../kit/resource.ts'
import { judgeVulnerabilities, judgeVulnerabilitiesOften } from './judge-vulnerabilities.job.ts'
import { readVulnerabilities, readVulnerabilitiesWhenDue } from './read-vulnerabilities.job.ts'

export const vulnerabilities = resource({
  tag: { name: 'Vulnerabilities', description: 'Known vulnerabilities of plugins, themes and WordPress' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [readVulnerabilities, judgeVulnerabilities] },
  schedules: [readVulnerabilitiesWhenDue, judgeVulnerabilitiesOften],
})
