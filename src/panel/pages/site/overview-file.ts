/** The script of a site's first page. The list of sites fetches it in advance: most clicks there lead to it. */
export const overviewFile = () => import('./overview.tsx')
