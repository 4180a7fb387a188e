import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  record_exists: {
    status: 400,
    text: 'value: is what another {type} record of this name has already.',
    remedy: 'Nothing is to be done: the record is there.',
  },
  record_conflict: {
    status: 400,
    text: 'Other records are in the way: {reason}.',
    remedy: 'Delete the records that are named, or choose another name.',
  },
  record_limit_reached: {
    status: 400,
    text: 'A zone may have {limit} records. Delete some first.',
    remedy: 'Delete records of the zone that are no longer needed.',
  },
  host_name_taken: {
    status: 400,
    text: 'name: {hostName} is in use already. Remove it from the site that has it first.',
    remedy: 'Remove the domain from the other site, or choose another one.',
  },
  reserved_name: {
    status: 400,
    text: 'name: {hostName} belongs to this installation. Use a domain of your own.',
    remedy: 'Choose another name. Only the account that operates this Stead can use names of its own domains.',
  },
  staging_domain_name: {
    status: 400,
    text: 'name: {hostName} belongs to {stagingDomain}, where Stead names the sites itself. Use a domain of your own.',
    remedy: 'Use a domain of your own. A site has its address below the staging domain without being asked for it.',
  },
  zone_of_another_account: {
    status: 400,
    text: 'name: {zone} is managed by another account. Its owner can add the domain.',
    remedy: 'Ask the owner of the zone, or whoever runs this Stead.',
  },
  staging_site_domains: {
    status: 400,
    text: 'A staging site has no domains. Convert it to a live site first.',
    remedy: 'Convert the site with `PUT /v1/sites/{id}/convert`, then add the domain.',
  },
  ssl_only_a_records: {
    status: 400,
    text: 'Only A records are supported',
    remedy: 'Ask for the details of an A record of the same name.',
  },
  ssl_nothing_found: {
    status: 400,
    text: 'No information found',
    remedy: 'No certificate was ordered for the name yet: `PUT` of the same path orders one.',
  },
  invalid_ssl_record: {
    status: 400,
    text: 'SSL can only be retried on A records',
    remedy: 'Use the id of an A record of the same name.',
  },
  ssl_record_of_no_site: {
    status: 400,
    text: '{hostName} leads to no site of this service, which could have a certificate.',
    remedy: 'Add the name as a domain of a site first.',
  },
  ssl_not_certifiable: {
    status: 400,
    text: 'No certificate authority issues certificates for names like {hostName}.',
    remedy: 'Use a name below a public suffix.',
  },
  domain_limit_reached: {
    status: 400,
    text: 'A site may have {limit} domains. Remove some first.',
    remedy: 'Remove domains of the site that are no longer needed.',
  },
})
