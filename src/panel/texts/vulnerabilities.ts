const sites = (count: number): string => (count === 1 ? '1 site' : `${count.toLocaleString()} sites`)

export const vulnerabilitiesTexts = {
  title: (count: number) => (count === 1 ? '1 known vulnerability' : `${count.toLocaleString()} known vulnerabilities`),
  is: 'Update what they affect, or remove it. Inactive plugins count, too.',
  severities: { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' },
  unknown: 'Not rated',
  affected: (name: string, versions: string) => `${name} ${versions}`,
  fixed: (version: string) => `fixed in ${version}`,
  unfixed: 'no fixed version yet',
  on: sites,
  all: 'Show all',
  more: 'More about it',
}
