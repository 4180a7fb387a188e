import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  record_exists: {
    status: 400,
    text: 'value: an identical {type} record already exists.',
    remedy: 'You need not do anything: the record already exists.',
  },
  record_conflict: {
    status: 400,
    text: 'Other records conflict with this one: {reason}.',
    remedy: 'Delete the conflicting records, or choose another name.',
  },
  record_limit_reached: {
    status: 400,
    text: 'A zone can have {limit} records. Delete some first.',
    remedy: 'Delete records of the zone that you no longer need.',
  },
  host_name_taken: {
    status: 400,
    text: 'name: {hostName} is already in use. Remove it from the other site first.',
    remedy: 'Remove the domain from the other site, or choose another one.',
  },
  reserved_name: {
    status: 400,
    text: 'name: {hostName} belongs to this installation. Use a domain of your own.',
    remedy: "Choose another name. Only the operator's account can use names of the installation.",
  },
  staging_domain_name: {
    status: 400,
    text: 'name: {hostName} belongs to {stagingDomain}, where Stead assigns the names of sites. Use a domain of your own.',
    remedy: 'Use a domain of your own. Each site already has an address below the staging domain.',
  },
  zone_of_another_account: {
    status: 400,
    text: 'name: {zone} is managed by another account. Its owner can add the domain.',
    remedy: 'Ask the owner of the zone, or your operator.',
  },
  staging_site_domains: {
    status: 400,
    text: 'A staging site cannot have domains. Convert it to a live site first.',
    remedy: 'Convert the site with `PUT /v1/sites/{id}/convert`, then add the domain.',
  },
  ssl_only_a_records: {
    status: 400,
    text: 'Only A records are supported',
    remedy: 'Request the details of an A record with the same name.',
  },
  ssl_nothing_found: {
    status: 400,
    text: 'No information found',
    remedy: 'Stead has not requested a certificate for the name yet. To request one, send `PUT` to the same path.',
  },
  invalid_ssl_record: {
    status: 400,
    text: 'SSL can only be retried on A records',
    remedy: 'Use the id of an A record with the same name.',
  },
  ssl_record_of_no_site: {
    status: 400,
    text: '{hostName} does not point to a site of this installation, so it cannot have a certificate.',
    remedy: 'First add the name to a site as a domain.',
  },
  ssl_not_certifiable: {
    status: 400,
    text: 'No certificate authority issues certificates for names like {hostName}.',
    remedy: 'Use a name below a public suffix.',
  },
  domain_limit_reached: {
    status: 400,
    text: 'A site can have {limit} domains. Remove some first.',
    remedy: 'Remove domains of the site that you no longer need.',
  },
})
