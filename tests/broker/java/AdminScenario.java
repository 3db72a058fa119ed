import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.pulsar.client.admin.Namespaces;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.admin.PulsarAdminException;
import org.apache.pulsar.client.admin.Schemas;
import org.apache.pulsar.client.admin.Topics;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.policies.data.Policies;
import org.apache.pulsar.common.policies.data.SchemaAutoUpdateCompatibilityStrategy;
import org.apache.pulsar.common.policies.data.SchemaCompatibilityStrategy;
import org.apache.pulsar.common.policies.data.TenantInfo;
import org.apache.pulsar.common.schema.KeyValue;
import org.apache.pulsar.common.schema.KeyValueEncodingType;
import org.apache.pulsar.common.protocol.schema.PostSchemaPayload;
import org.apache.pulsar.common.schema.SchemaInfo;
import org.apache.pulsar.common.schema.SchemaInfoWithVersion;
import org.apache.pulsar.common.schema.SchemaType;

/** Pulsar's own admin client against a server: prints what it gets, one line a call, marked by ">". */
public final class AdminScenario {

    private static final String FIRST = record("{\"name\":\"a\",\"type\":\"int\"}");
    private static final String SECOND =
        record("{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":\"int\",\"default\":1}");
    private static final String BREAKING = record("{\"name\":\"a\",\"type\":\"string\"}");

    private final PulsarAdmin admin;
    private final String tenant;
    private final String namespace;

    private AdminScenario(PulsarAdmin admin, String tenant) {
        this.admin = admin;
        this.tenant = tenant;
        this.namespace = tenant + "/events";
    }

    /** Arguments: the URL of admin REST, and the name of a tenant that does not exist yet. */
    public static void main(String[] arguments) throws Exception {
        try (PulsarAdmin admin = PulsarAdmin.builder().serviceHttpUrl(arguments[0]).build()) {
            AdminScenario scenario = new AdminScenario(admin, arguments[1]);
            scenario.tenants();
            scenario.namespaces();
            scenario.schemas();
            scenario.keyValue();
            scenario.topics();
        }
    }

    private void tenants() {
        TenantInfo info = TenantInfo.builder().allowedClusters(Set.of("standalone")).build();
        show("clusters", () -> admin.clusters().getClusters());
        show("cluster has a URL", () ->
            admin.clusters().getCluster("standalone").getServiceUrl().startsWith("http"));
        act("create tenant", () -> admin.tenants().createTenant(tenant, info));
        act("create tenant again", () -> admin.tenants().createTenant(tenant, info));
        show("tenant is listed", () -> admin.tenants().getTenants().contains(tenant));
        show("tenant's clusters", () -> admin.tenants().getTenantInfo(tenant).getAllowedClusters());
    }

    private void namespaces() {
        Namespaces namespaces = admin.namespaces();
        act("create namespace", () -> namespaces.createNamespace(namespace));
        act("create namespace again", () -> namespaces.createNamespace(namespace));
        show("namespaces", () -> namespaces.getNamespaces(tenant).size());
        show("policies", () -> policies());
        show("policies of none", () -> namespaces.getPolicies(tenant + "/none"));
        act("set strategy", () -> namespaces.setSchemaCompatibilityStrategy(
            namespace, SchemaCompatibilityStrategy.BACKWARD));
        show("strategy", () -> namespaces.getSchemaCompatibilityStrategy(namespace));
        show("legacy", () -> namespaces.getSchemaAutoUpdateCompatibilityStrategy(namespace));
        act("set legacy", () -> namespaces.setSchemaAutoUpdateCompatibilityStrategy(
            namespace, SchemaAutoUpdateCompatibilityStrategy.Forward));
        show("legacy", () -> namespaces.getSchemaAutoUpdateCompatibilityStrategy(namespace));
        act("forbid auto-update", () -> namespaces.setIsAllowAutoUpdateSchema(namespace, false));
        show("auto-update", () -> namespaces.getIsAllowAutoUpdateSchema(namespace));
        act("enforce", () -> namespaces.setSchemaValidationEnforced(namespace, true));
        show("enforced", () -> namespaces.getSchemaValidationEnforced(namespace));
        show("policies", () -> policies());
    }

    private void schemas() {
        Schemas schemas = admin.schemas();
        String topic = namespace + "/orders";
        SchemaInfo first = avro(FIRST);
        SchemaInfo second = avro(SECOND);
        show("no schema", () -> schemas.getSchemaInfo(topic));
        show("no schemas", () -> schemas.getAllSchemas(topic));
        act("create schema", () -> schemas.createSchema(topic, first));
        act("create second schema", () -> schemas.createSchema(
            topic, new PostSchemaPayload("AVRO", SECOND, Map.of("owner", "checkout"))));
        act("create breaking schema", () -> schemas.createSchema(topic, avro(BREAKING)));
        act("create invalid schema", () -> schemas.createSchema(topic, avro("nonsense")));
        act("create schema in none", () -> schemas.createSchema(tenant + "/none/t", first));
        show("latest", () -> told(schemas.getSchemaInfo(topic)));
        show("with version", () -> told(schemas.getSchemaInfoWithVersion(topic)));
        show("version 0", () -> told(schemas.getSchemaInfo(topic, 0)));
        show("version 9", () -> told(schemas.getSchemaInfo(topic, 9)));
        show("all", () ->
            schemas.getAllSchemas(topic).stream().map(each -> told(each)).toList());
        show("version of second", () -> schemas.getVersionBySchema(topic, second));
        show("version of breaking", () -> schemas.getVersionBySchema(topic, avro(BREAKING)));
        show("compatible", () -> schemas.testCompatibility(topic, second).isCompatibility());
        show("by strategy", () ->
            schemas.testCompatibility(topic, second).getSchemaCompatibilityStrategy());
        show("incompatible", () -> schemas.testCompatibility(topic, avro(BREAKING)));
        show("metadata", () -> schemas.getSchemaMetadata(topic).index.size());
        act("delete schema", () -> schemas.deleteSchema(topic));
        show("deleted", () -> schemas.getSchemaInfo(topic));
        act("create another type", () -> schemas.createSchema(topic, Schema.INT32.getSchemaInfo()));
        show("with version", () -> told(schemas.getSchemaInfoWithVersion(topic)));
        act("delete by force", () -> schemas.deleteSchema(topic, true));
        show("none left", () -> schemas.getAllSchemas(topic));
    }

    private void keyValue() {
        Schemas schemas = admin.schemas();
        String topic = namespace + "/pairs";
        Schema<KeyValue<String, byte[]>> pair = Schema.KeyValue(
            Schema.STRING, Schema.NATIVE_AVRO(new org.apache.avro.Schema.Parser().parse(FIRST)),
            KeyValueEncodingType.SEPARATED);
        act("create key-value schema", () -> schemas.createSchema(topic, pair.getSchemaInfo()));
        show("key-value", () -> told(schemas.getSchemaInfo(topic)));
        show("same bytes", () -> new String(
            schemas.getSchemaInfo(topic).getSchema(), StandardCharsets.UTF_8).equals(
            new String(pair.getSchemaInfo().getSchema(), StandardCharsets.UTF_8)));
    }

    private void topics() {
        Topics topics = admin.topics();
        String one = "persistent://" + namespace + "/one";
        String two = "persistent://" + namespace + "/two";
        act("create topic", () -> topics.createNonPartitionedTopic(one));
        act("create topic again", () -> topics.createNonPartitionedTopic(one));
        act("create partitions", () -> topics.createPartitionedTopic(two, 2));
        show("topics", () -> local(topics.getList(namespace)));
        show("partitioned", () -> local(topics.getPartitionedTopicList(namespace)));
        show("partitions", () -> topics.getPartitionedTopicMetadata(two).partitions);
        show("own strategy", () -> admin.topicPolicies().getSchemaCompatibilityStrategy(one, false));
        show("applied", () -> admin.topicPolicies().getSchemaCompatibilityStrategy(one, true));
        act("set own strategy", () -> admin.topicPolicies().setSchemaCompatibilityStrategy(
            one, SchemaCompatibilityStrategy.FULL));
        show("own strategy", () -> admin.topicPolicies().getSchemaCompatibilityStrategy(one, false));
        act("remove own strategy", () ->
            admin.topicPolicies().removeSchemaCompatibilityStrategy(one));
        show("own strategy", () -> admin.topicPolicies().getSchemaCompatibilityStrategy(one, false));
        act("delete topic", () -> topics.delete(one));
        act("delete partitions", () -> topics.deletePartitionedTopic(two));
        act("delete namespace", () -> admin.namespaces().deleteNamespace(namespace));
        act("delete tenant", () -> admin.tenants().deleteTenant(tenant));
    }

    private String policies() throws PulsarAdminException {
        Policies policies = admin.namespaces().getPolicies(namespace);
        return List.of(
            policies.schema_compatibility_strategy,
            policies.is_allow_auto_update_schema,
            policies.schema_validation_enforced,
            policies.replication_clusters).toString();
    }

    private static String record(String fields) {
        return "{\"type\":\"record\",\"name\":\"Order\",\"fields\":[" + fields + "]}";
    }

    private static SchemaInfo avro(String text) {
        return SchemaInfo.builder().name("orders").type(SchemaType.AVRO)
            .schema(text.getBytes(StandardCharsets.UTF_8)).properties(Map.of()).build();
    }

    private static String told(SchemaInfoWithVersion info) {
        return "v" + info.getVersion() + " " + told(info.getSchemaInfo());
    }

    private static String told(SchemaInfo info) {
        return info.getType() + " " + info.getSchemaDefinition() + " "
            + new TreeMap<>(info.getProperties());
    }

    private List<String> local(List<String> names) {
        return names.stream().map(each -> each.substring(each.lastIndexOf('/') + 1)).sorted()
            .collect(Collectors.toList());
    }

    /** A call without an answer. */
    private interface Action {
        void run() throws Exception;
    }

    private static void act(String what, Action action) {
        show(what, () -> {
            action.run();
            return "done";
        });
    }

    private static void show(String what, Callable<Object> call) {
        String answer;
        try {
            answer = String.valueOf(call.call());
        } catch (PulsarAdminException refusal) {
            answer = refusal.getClass().getSimpleName() + " " + refusal.getStatusCode();
        } catch (Exception error) {
            answer = error.toString();
        }
        System.out.println("> " + what + ": " + answer);
    }
}
