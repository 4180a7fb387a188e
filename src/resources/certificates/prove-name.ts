import type { Authorization, Client } from 'acme-client'
import { putChallenge } from '../../dns/zones/challenges.store.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { changeName, changeServedName } from './certificate.store.ts'
import { placeOfProof } from './why-not.ts'

type Context = Pick<
  StepContext<{ readonly hostName: string }, Pick<ControlServices, 'config' | 'database'>>,
  'input' | 'services' | 'signal' | 'transaction' | 'now'
>

/** Places the response to the authority's challenge where it will look, and tells it to check. */
export async function answerQuestion(context: Context, client: Client, authorization: Authorization): Promise<void> {
  const { hostName } = context.input
  // A wildcard can only be validated by its zone (RFC 8555 §8.4).
  const type = isWildcard(hostName) ? 'dns-01' : 'http-01'
  const challenge = authorization.challenges.find((each) => each.type === type)
  if (!challenge) throw new PermanentFailure(`The authority does not offer the challenge ${type} for this name`)
  const answer = await client.getChallengeKeyAuthorization(challenge)
  const known = {
    authz_url: authorization.url,
    authz_expires_at: authorization.expires ? Date.parse(authorization.expires) : null,
  }
  if (type === 'dns-01') {
    await context.transaction((tx) => changeName(tx, hostName, known))
    await answerInDns(context, answer)
  } else {
    const shown = { ...known, challenge_token: challenge.token, challenge_answer: answer }
    await context.transaction((tx) => changeServedName(tx, hostName, shown))
  }
  if (challenge.status === 'pending') await client.completeChallenge(challenge)
}

async function answerInDns({ input, services, signal, transaction, now }: Context, value: string): Promise<void> {
  const { nameServersOf, untilAnswered } = await import('../../certificates/dns-proof.ts')
  const { resolvers } = services.config
  const { hostName } = input
  const place = await placeOfProof(services.database.read, hostName, resolvers)
  if ('fault' in place) throw new PermanentFailure(place.fault)
  const { name, zone } = place
  await transaction((tx) => putChallenge(tx, { hostName, zone, name, value }, now()))
  const servers = await nameServersOf(zone.name, resolvers)
  const silent = await untilAnswered({ name, value, servers, signal })
  if (silent.length > 0)
    throw new PermanentFailure(
      `The authority queries the name servers of ${zone.name} for ${name}, but these do not return the record that Stead created: ${silent.join(', ')}`,
    )
}
