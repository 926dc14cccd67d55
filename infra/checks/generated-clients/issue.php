<?php
// Client of OpenAPI Generator for PHP: loads every class, deserializes each request into its model, serializes it,
// issues it, and reads the receipt. Arguments: URL, key, the folder of the requests. Guzzle is Debian's.

error_reporting(E_ALL);
set_error_handler(function (int $severity, string $message, string $file, int $line) {
    throw new ErrorException($message, 0, $severity, $file, $line);
});
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    $file = __DIR__ . '/ecf/lib/' . str_replace('\\', '/', preg_replace('/^Ecf\\\\/', '', $class)) . '.php';
    if (str_starts_with($class, 'Ecf\\')) {
        require $file;
    }
});

use Ecf\Api\ComprobantesApi;
use Ecf\ApiException;
use Ecf\Configuration;
use Ecf\ObjectSerializer;

function check(bool $holds, mixed $what): void
{
    if (!$holds) {
        throw new RuntimeException(json_encode($what));
    }
}

foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(__DIR__ . '/ecf/lib', FilesystemIterator::SKIP_DOTS)) as $file) {
    $name = substr($file->getPathname(), strlen(__DIR__ . '/ecf/lib/'), -4);
    $class = 'Ecf\\' . str_replace('/', '\\', $name);
    check(class_exists($class) || interface_exists($class), $class);
}
[, $base, $key, $folder] = $argv;
$api = new ComprobantesApi(config: (new Configuration())->setHost($base)->setApiKey('X-API-Key', $key));
$files = glob("$folder/*.json");
foreach ($files as $file) {
    $request = json_decode(file_get_contents($file));
    // PHP has no class for the union of the types, so the model is the type's own.
    $model = ObjectSerializer::deserialize($request, "\\Ecf\\Model\\IssueRequest{$request->ecf_type}");
    check($model->valid(), $model->listInvalidProperties());
    $written = json_decode(json_encode(ObjectSerializer::sanitizeForSerialization($model)));
    check($written == $request, [$written, $request]);
    $issued = $api->issue($model);
    check($issued->getEcfType() === $request->ecf_type && is_string($issued->getEncf()), $issued);
}
$found = $api->read($issued->getPublicId());
check($found->getEncf() === $issued->getEncf() && $found->getExternalId() === $request->external_id, $found);
try {
    $api->read('nothing');
    check(false, 'a receipt that does not exist was found');
} catch (ApiException $error) {
    check($error->getCode() === 404, $error->getMessage());
}
echo 'OpenAPI Generator, PHP: ', count($files), " requests came back equal and were issued\n";
