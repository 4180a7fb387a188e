import type { TaskOutput } from '../../../hosting/php/tasks.ts'

/** Facts about a network, as WordPress reports them. */
type NetworkFacts = TaskOutput<'make-network'>

/** Returns the constants of wp-config.php that make WordPress look for a network. */
export function networkConstants(facts: NetworkFacts, address: string): Record<string, string | number | boolean> {
  return {
    MULTISITE: true,
    SUBDOMAIN_INSTALL: facts.isSubdomainInstall,
    DOMAIN_CURRENT_SITE: address,
    PATH_CURRENT_SITE: facts.path,
    SITE_ID_CURRENT_SITE: facts.networkId,
    BLOG_ID_CURRENT_SITE: facts.blogId,
  }
}

/** Removes these constants. The tables of the network stay. */
export const noNetwork = {
  MULTISITE: null,
  SUBDOMAIN_INSTALL: null,
  DOMAIN_CURRENT_SITE: null,
  PATH_CURRENT_SITE: null,
  SITE_ID_CURRENT_SITE: null,
  BLOG_ID_CURRENT_SITE: null,
}
