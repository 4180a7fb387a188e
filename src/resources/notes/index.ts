import { resource } from '../resource.ts'

export const notes = resource({
  tag: { name: 'Notes', description: 'Notes on a site' },
  operations: () => import('./operations.ts'),
})
